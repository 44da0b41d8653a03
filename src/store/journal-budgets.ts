import type { EntityManager } from 'typeorm';
import {
  BUDGET_HELD,
  BUDGET_WINDOW_MS,
  COUNTED_OUTCOMES,
  type BudgetLimit,
  type HeldByBudget,
  type SpentBudget,
} from '../core/budgets.js';
import type { Visibility } from '../core/visibility.js';
import { execute } from './database.js';
import { lockKeyOf } from './columns.js';
import { visibilityValues, tellsOrg } from './visibility-statements.js';

const COUNTED = COUNTED_OUTCOMES.map((outcome) =>
  outcome === null ? 'a.outcome IS NULL' : `a.outcome = '${outcome}'`,
).join(' OR ');
const WINDOW = `interval '${BUDGET_WINDOW_MS} milliseconds'`;

/** What fills each budget now. Answers come in after the calls, so what a call is counted as is told when it is counted. */
const USED = `
SELECT u.budget, count(*)::int AS used, extract(epoch FROM min(u.at) + ${WINDOW} - clock_timestamp())::double precision * 1000 AS again_in_ms
FROM budget_uses u JOIN attempts a ON a.id = u.attempt_id
WHERE u.budget = ANY ($1::text[]) AND u.at > statement_timestamp() - ${WINDOW} AND (${COUNTED})
GROUP BY u.budget`;

const FORGET = `DELETE FROM budget_uses WHERE budget = ANY ($1::text[]) AND at <= statement_timestamp() - ${WINDOW}`;
const USE = 'INSERT INTO budget_uses (budget, attempt_id, at) SELECT unnest($1::text[]), $2, clock_timestamp()';

const keysOf = (limits: readonly BudgetLimit[]): string[] => [...new Set(limits.map(({ key }) => key))];

/** The first of these budgets that has nothing left. */
export async function findSpent(manager: EntityManager, limits: readonly BudgetLimit[]): Promise<SpentBudget | null> {
  const { rows } = await execute<{ budget: string; used: number; again_in_ms: number }>(manager, USED, [
    keysOf(limits),
  ]);
  for (const limit of limits) {
    const row = rows.find(({ budget }) => budget === limit.key);
    if (row && row.used >= limit.perHour) return { limit, againInMs: Math.max(Math.ceil(row.again_in_ms), 1) };
  }
  return null;
}

/**
 * The same, with the budgets locked until the end of the transaction: nobody else counts or uses them meanwhile. All locks in one order, so
 * that no two can wait for each other. What is older than the window is forgotten on the way.
 */
export async function takeBudgets(manager: EntityManager, limits: readonly BudgetLimit[]): Promise<SpentBudget | null> {
  if (limits.length === 0) return null;
  const locks = keysOf(limits).map((key) => lockKeyOf('budget', key));
  for (const lock of locks.sort()) await execute(manager, 'SELECT pg_advisory_xact_lock($1)', [lock]);
  await execute(manager, FORGET, [keysOf(limits)]);
  return findSpent(manager, limits);
}

export async function useBudgets(
  manager: EntityManager,
  limits: readonly BudgetLimit[],
  attemptId: string,
): Promise<void> {
  if (limits.length > 0) await execute(manager, USE, [keysOf(limits), attemptId]);
}

/** Times of one place differ by what passes between the look at a budget and the hold. */
const SAME_PLACE = `interval '1 minute'`;

const TAKE_PLACE = `
INSERT INTO budget_holds AS h (budget, org, kind, whose, per_hour, since, until, places)
VALUES ($1, $2, $3, $4, greatest($5::integer, 1), clock_timestamp(), clock_timestamp() + $6::double precision * interval '1 millisecond', 1)
ON CONFLICT (budget) DO UPDATE SET
  whose = EXCLUDED.whose, per_hour = EXCLUDED.per_hour,
  since = CASE WHEN h.until <= clock_timestamp() THEN EXCLUDED.since ELSE h.since END,
  until = CASE WHEN h.until + ${SAME_PLACE} < EXCLUDED.until THEN EXCLUDED.until
               WHEN h.places < EXCLUDED.per_hour THEN greatest(h.until, EXCLUDED.until)
               ELSE h.until + ${WINDOW} END,
  places = CASE WHEN h.until + ${SAME_PLACE} < EXCLUDED.until OR h.places >= EXCLUDED.per_hour THEN 1 ELSE h.places + 1 END
RETURNING extract(epoch FROM until - clock_timestamp())::double precision * 1000 AS in_ms`;

/** Budgets that have held nothing for an hour; those that others work with are left to them. */
const FORGET_HOLDS = `
DELETE FROM budget_holds WHERE budget IN (
  SELECT budget FROM budget_holds WHERE until < statement_timestamp() - ${WINDOW} ORDER BY until LIMIT 100 FOR UPDATE SKIP LOCKED)`;

/**
 * The next place behind a spent budget. Each hour has as many as the budget lets through in one: what is tried again at one time is never
 * more than there can be room for, however many wait.
 * @returns in how many milliseconds its turn comes
 */
export async function takePlace(
  manager: EntityManager,
  org: string,
  { limit, againInMs }: SpentBudget,
): Promise<number> {
  const { key, kind, of, perHour } = limit;
  const { rows } = await execute<{ in_ms: number }>(manager, TAKE_PLACE, [key, org, kind, of, perHour, againInMs]);
  return Math.max(Math.ceil(rows[0]?.in_ms ?? againInMs), 1);
}

export async function forgetHolds(manager: EntityManager): Promise<void> {
  await execute(manager, FORGET_HOLDS, []);
}

const HELD = `
SELECT h.org, h.kind, h.whose, h.per_hour, h.since, h.until, w.effects, w.next FROM (
  SELECT held_by, count(*)::int AS effects, min(due_at) AS next FROM intents
  WHERE state = 'planned' AND held AND due_at > statement_timestamp() GROUP BY held_by
) AS w JOIN budget_holds h ON h.budget = w.held_by WHERE ${tellsOrg('h.org', '$2')} ORDER BY w.effects DESC, h.budget LIMIT $1`;

interface HeldRow extends Pick<HeldByBudget, 'org' | 'kind' | 'effects'> {
  readonly whose: string;
  readonly per_hour: number;
  readonly since: Date;
  readonly until: Date;
  readonly next: Date;
}

export async function findHeld(manager: EntityManager, limit: number, visibility: Visibility): Promise<HeldByBudget[]> {
  // All are of one organization each, so of a visibility only the whole organizations count.
  const [whole] = visibilityValues(visibility);
  const { rows } = await execute<HeldRow>(manager, HELD, [limit, whole]);
  return rows.map(({ org, kind, whose, per_hour: perHour, effects, since, next, until }) => ({
    code: BUDGET_HELD,
    org,
    kind,
    of: whose,
    perHour,
    effects,
    since: new Date(since),
    next: new Date(next),
    until: new Date(until),
  }));
}
