import type { EntityManager } from 'typeorm';
import { BUDGET_WINDOW_MS, COUNTED_OUTCOMES, type BudgetLimit, type SpentBudget } from '../journal/budgets.js';
import { execute } from './database.js';
import { lockKeyOf } from './keys.js';

const COUNTED = COUNTED_OUTCOMES.map((outcome) => (outcome === null ? 'a.outcome IS NULL' : `a.outcome = '${outcome}'`)).join(' OR ');
const WINDOW = `interval '${BUDGET_WINDOW_MS} milliseconds'`;

/** What fills each budget now. Answers come in after the calls, so what a call is counted as is told when it is counted. */
const USED = `
SELECT u.budget, count(*)::int AS used, extract(epoch FROM min(u.at) + ${WINDOW} - clock_timestamp())::double precision * 1000 AS again_in_ms
FROM budget_uses u JOIN attempts a ON a.id = u.attempt_id
WHERE u.budget = ANY ($1::text[]) AND u.at > clock_timestamp() - ${WINDOW} AND (${COUNTED})
GROUP BY u.budget`;

const FORGET = `DELETE FROM budget_uses WHERE budget = ANY ($1::text[]) AND at <= clock_timestamp() - ${WINDOW}`;
const USE = 'INSERT INTO budget_uses (budget, attempt_id, at) SELECT unnest($1::text[]), $2, clock_timestamp()';

const keysOf = (limits: readonly BudgetLimit[]): string[] => [...new Set(limits.map(({ key }) => key))];

/** The first of these budgets that has nothing left. */
export async function findSpent(manager: EntityManager, limits: readonly BudgetLimit[]): Promise<SpentBudget | null> {
  const { rows } = await execute<{ budget: string; used: number; again_in_ms: number }>(manager, USED, [keysOf(limits)]);
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

export async function useBudgets(manager: EntityManager, limits: readonly BudgetLimit[], attemptId: string): Promise<void> {
  if (limits.length > 0) await execute(manager, USE, [keysOf(limits), attemptId]);
}
