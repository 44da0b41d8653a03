import type { EntityManager } from 'typeorm';
import { hashOf } from '../core/ids.js';
import { parseJson, stringifyJson } from '../core/json.js';
import { runReason } from '../core/run-reasons.js';
import { toldBeforeReason } from '../core/told-acts.js';
import {
  type Cause,
  type Gathering,
  IDLE_RUN_STATES,
  type NewIntent,
  type NewRun,
  causeId,
  hasFired,
} from '../core/run.js';
import type { ActsAsked, DecidedBy, RecordedRun } from '../pipeline/journal-store.port.js';
import { columnsOf } from './parameters.js';
import { keyOf, lockKeyOf, reasonColumns } from './columns.js';
import { execute } from './database.js';

const IDLE = IDLE_RUN_STATES.map((state) => `'${state}'`).join(', ');

/** An index is not searched by a time that runs on, as that of `clock_timestamp()` does. */
const FIRED = `
SELECT count(*)::int AS count FROM (
  SELECT 1 FROM runs
  WHERE org = $1 AND rule = $2 AND decided_at > statement_timestamp() - interval '1 hour' AND state NOT IN (${IDLE})
  ORDER BY decided_at DESC LIMIT $3
) AS fired`;

/** Whoever tells one of them at the same time waits here for the other. */
const TELL_ACTS = `
INSERT INTO told_acts (forge, org, rule, act, event_id) SELECT $1, $2, $3, a.act, $5 FROM unnest($4::text[]) AS a (act) ON CONFLICT DO NOTHING`;

const TOLD_ACTS = `SELECT act, event_id AS "eventId" FROM told_acts WHERE forge = $1 AND org = $2 AND rule = $3 AND act = ANY ($4::text[])`;

/** The one window of a key that is open; one that is over has its own decision under way and takes nothing more. */
const OPEN_WINDOW = `
SELECT id, cause, due_at FROM runs WHERE coalesce_hash = $1 AND state = 'gathering' AND due_at > clock_timestamp() AND id <> $2
ORDER BY seq DESC LIMIT 1 FOR NO KEY UPDATE`;

const GATHER = `UPDATE runs SET coalesce_hash = $2, due_at = coalesce($3::timestamptz, clock_timestamp() + $4::double precision * interval '1 millisecond') WHERE id = $1`;

const COALESCE = `UPDATE runs SET state = 'coalesced', coalesced_into = $2, reason_code = $3, reason_params = $4, ended_at = clock_timestamp() WHERE id = $1`;

/** What pointed to the one that gave up its place points on. */
const POINT_ON = `UPDATE runs SET coalesced_into = $2, reason_code = $3, reason_params = $4 WHERE coalesced_into = $1`;

const DECIDE = `
UPDATE runs SET state = $2, reason_code = $3, trace = $4, lookups = $5, revision_id = $6, mode = $7, decided_at = $8, reason_params = $9,
  ended_at = CASE WHEN $2 = 'open' THEN NULL ELSE clock_timestamp() END
WHERE id = $1 AND state = 'gathering'`;

const DECIDERS = keepDeciders(4);

/** Of a list with a limit that it does not know the planner expects one row, and looks that up by its key. */
const DECIDE_EVENTS = `
WITH kept AS (${DECIDERS})
UPDATE events e SET decided_at = clock_timestamp(), decided_by = d.by
FROM (SELECT * FROM unnest($1::text[], $2::text[]) LIMIT $3) AS d (id, by) WHERE e.id = d.id AND e.decided_at IS NULL`;
const MOST_EVENTS = 1_000_000;

const DECIDED_BY = `SELECT d.revision_id AS "revisionId", d.bot FROM events e JOIN deciders d ON d.id = e.decided_by WHERE e.id = $1`;

/** The statement that keeps what decided events; its parameters are those of `deciderColumns`, from this number on. */
export function keepDeciders(first: number): string {
  return `INSERT INTO deciders (id, revision_id, bot)
  SELECT k.id, k.revision_id, k.bot FROM unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[]) AS k (id, revision_id, bot)
  WHERE NOT EXISTS (SELECT 1 FROM deciders o WHERE o.id = k.id) ORDER BY k.id ON CONFLICT DO NOTHING`;
}

/** Of all those, each once. */
export function deciderColumns(all: ReadonlyArray<DecidedBy | undefined>): unknown[][] {
  const rows = new Map(all.flatMap((by) => (by ? [[deciderId(by), by]] : [])));
  return columnsOf(
    [...rows].map(([id, { revisionId, bot }]) => ({ id, revisionId, bot: stringifyJson(bot) })),
    ['id', 'revisionId', 'bot'],
  );
}

export function deciderId({ revisionId, bot }: DecidedBy): string {
  return hashOf('decider', revisionId, stringifyJson(bot));
}

/** An event that is decided already stays as it is. */
export async function markDecided(
  manager: EntityManager,
  events: ReadonlyArray<{ readonly eventId: string; readonly by?: DecidedBy | undefined }>,
): Promise<void> {
  await execute(manager, DECIDE_EVENTS, [
    events.map(({ eventId }) => eventId),
    events.map(({ by }) => (by ? deciderId(by) : null)),
    MOST_EVENTS,
    ...deciderColumns(events.map(({ by }) => by)),
  ]);
}

export async function findDecider(manager: EntityManager, eventId: string): Promise<DecidedBy | null> {
  const [row] = (await execute<{ revisionId: string; bot: string }>(manager, DECIDED_BY, [eventId])).rows;
  return row ? { revisionId: row.revisionId, bot: parseJson(row.bot) as DecidedBy['bot'] } : null;
}

/** Runs that fired in the last hour, by database time, as far as `most`. */
export async function countFired(manager: EntityManager, org: string, rule: string, most: number): Promise<number> {
  return (await execute<{ count: number }>(manager, FIRED, [org, rule, most])).rows[0]?.count ?? 0;
}

/** @returns the intents that were written */
export async function insertRuns(manager: EntityManager, runs: readonly RecordedRun[]): Promise<NewIntent[]> {
  await lockFor(manager, runs);
  const made: NewIntent[] = [];
  for (const recorded of runs) {
    const { run, intents } = await firstToTell(manager, recorded, await withinLimit(manager, recorded));
    if (!(await insertRun(manager, run))) continue;
    if (recorded.gathering && run.state === 'gathering') await gather(manager, run, recorded.gathering);
    made.push(...intents);
  }
  await insertIntents(manager, made);
  return made;
}

/** Nothing is counted for it and it joins no window: it is written as it is. */
export function isPlain({ runsPerHour, gathering, acts = [] }: RecordedRun): boolean {
  return runsPerHour === undefined && gathering === undefined && acts.length === 0;
}

/** The same of plain ones, in two statements however many they are. */
export async function insertPlainRuns(manager: EntityManager, runs: readonly RecordedRun[]): Promise<NewIntent[]> {
  if (runs.length === 0) return [];
  const written = await insertRunsAtOnce(
    manager,
    runs.map(({ run }) => run),
  );
  const made = runs.flatMap(({ run, intents }) => (written.has(run.id) ? intents : []));
  await insertIntents(manager, made);
  return made;
}

/** @returns null when the run does not gather any more */
export async function decideGatheredRun(
  manager: EntityManager,
  recorded: RecordedRun,
): Promise<readonly NewIntent[] | null> {
  await lockFor(manager, [recorded]);
  const { run, intents } = await firstToTell(manager, recorded, await withinLimit(manager, recorded));
  const { id, state, reason, trace, lookups, revisionId, mode, decidedAt } = run;
  const { reasonCode, reasonParams } = reasonColumns(reason);
  const read = [stringifyJson(trace), stringifyJson(lookups)];
  const values = [id, state, reasonCode, ...read, revisionId, mode, decidedAt, reasonParams];
  if ((await execute(manager, DECIDE, values)).affected === 0) return null;
  await insertIntents(manager, intents);
  return intents;
}

/** Counting runs and joining a window must see what others just did. All locks at once, in one order: two decisions cannot wait for each other. */
async function lockFor(manager: EntityManager, runs: readonly RecordedRun[]): Promise<void> {
  const keys = runs.flatMap(({ run, runsPerHour, gathering }) => [
    ...(runsPerHour === undefined ? [] : [lockKeyOf('runs per hour', run.org, run.rule)]),
    ...(gathering ? [lockKeyOf('coalesce', run.forge, run.org, run.rule, gathering.key)] : []),
  ]);
  for (const key of [...new Set(keys)].sort()) await execute(manager, 'SELECT pg_advisory_xact_lock($1)', [key]);
}

async function withinLimit(
  manager: EntityManager,
  { run, intents, runsPerHour }: RecordedRun,
): Promise<Pick<RecordedRun, 'run' | 'intents'>> {
  if (runsPerHour === undefined || !hasFired(run.state)) return { run, intents };
  const fired = await countFired(manager, run.org, run.rule, runsPerHour);
  return fired < runsPerHour
    ? { run, intents }
    : {
        run: { ...run, state: 'error', reason: runReason('run.held.limit', { fired, limit: runsPerHour }) },
        intents: [],
      };
}

/** Of two events that stand on one entry of the forge, the one that is written first is acted upon. */
async function firstToTell(
  manager: EntityManager,
  { acts = [] }: RecordedRun,
  recorded: Pick<RecordedRun, 'run' | 'intents'>,
): Promise<Pick<RecordedRun, 'run' | 'intents'>> {
  const { run } = recorded;
  const { forge, org, rule, cause } = run;
  if (acts.length === 0 || cause.kind !== 'event' || !(hasFired(run.state) || run.state === 'gathering'))
    return recorded;
  const first = await tellActs(manager, { forge, org, rule, acts }, cause.eventId);
  return first === null
    ? recorded
    : { run: { ...run, state: 'not-fired', reason: toldBeforeReason(first) }, intents: [] };
}

/**
 * Each of them counts for the first event that tells it.
 * @returns an event that told one of them before; null = this one is the first for all
 */
export async function tellActs(manager: EntityManager, question: ActsAsked, eventId: string): Promise<string | null> {
  const { forge, org, rule, acts } = question;
  await execute(manager, TELL_ACTS, [forge, org, rule, [...acts].sort(), eventId]);
  return [...(await findToldActs(manager, question)).values()].find((first) => first !== eventId) ?? null;
}

export async function findToldActs(
  manager: EntityManager,
  { forge, org, rule, acts }: ActsAsked,
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await execute<{ act: string; eventId: string }>(manager, TOLD_ACTS, [forge, org, rule, [...acts]]);
  return new Map(rows.map(({ act, eventId }) => [act, eventId]));
}

/** The last cause decides, and causes may be taken up out of order: their ids grow with time. */
async function gather(manager: EntityManager, run: NewRun, { key, windowMs }: Gathering): Promise<void> {
  const hash = keyOf('coalesce', run.forge, run.org, run.rule, key);
  const { rows } = await execute<{ id: string; cause: string; due_at: Date }>(manager, OPEN_WINDOW, [hash, run.id]);
  const open = rows[0];
  if (open && causeId(JSON.parse(open.cause) as Cause) > causeId(run.cause)) {
    await execute(manager, COALESCE, coalesced(run.id, open.id, key));
    return;
  }
  await execute(manager, GATHER, [run.id, hash, open?.due_at ?? null, windowMs]);
  if (!open) return;
  await execute(manager, COALESCE, coalesced(open.id, run.id, key));
  await execute(manager, POINT_ON, coalesced(open.id, run.id, key));
}

function coalesced(id: string, into: string, key: string): unknown[] {
  const { reasonCode, reasonParams } = reasonColumns(runReason('run.coalesced', { into, key }));
  return [id, into, reasonCode, reasonParams];
}

const INSERT_RUNS = `
INSERT INTO runs (id, forge, org, rule, kind, revision_id, cause, event_id, run_key, mode, state, reason_code, reason_params, trace, lookups, decided_at, repo_id, ended_at)
SELECT n.id, n.forge, n.org, n.rule, n.kind, n.revision_id, n.cause, n.event_id, n.run_key, n.mode, n.state, n.reason_code, n.reason_params, n.trace, n.lookups, n.decided_at,
       CASE WHEN n.event_id IS NULL THEN n.repo_id ELSE (SELECT e.repo_id FROM events e WHERE e.id = n.event_id) END,
       CASE WHEN n.state IN ('open', 'gathering') THEN NULL ELSE clock_timestamp() END
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
            $12::text[], $13::text[], $14::text[], $15::text[], $16::timestamptz[], $17::text[]) WITH ORDINALITY
  AS n (id, forge, org, rule, kind, revision_id, cause, event_id, run_key, mode, state, reason_code, reason_params, trace, lookups, decided_at, repo_id, place)
ORDER BY n.place
ON CONFLICT (run_key) DO NOTHING
RETURNING id`;

const INSERT_INTENTS = `
INSERT INTO intents (id, run_id, forge, org, rule, revision_id, step_id, step_no, item_key, intent_key, action, params, target, order_key, effect_key, effect_hash,
                     mode, planned_at, approval, two_people, counts_for, background, object, names, state, due_at, epoch, attempts, tries, updated_at)
SELECT n.id, n.run_id, n.forge, n.org, n.rule, n.revision_id, n.step_id, n.step_no, n.item_key, n.intent_key, n.action, n.params, n.target, n.order_key, n.effect_key, n.effect_hash,
       n.mode, n.planned_at, n.approval, n.two_people, n.counts_for, n.background, n.object, n.names, CASE WHEN n.approval = 'wanted' THEN 'waiting' ELSE 'planned' END, clock_timestamp(), 0, 0, 0, clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[], $10::text[], $11::text[], $12::text[],
            $13::text[], $14::text[], $15::text[], $16::bytea[], $17::text[], $18::timestamptz[], $19::text[], $20::boolean[], $21::text[], $22::boolean[], $23::text[], $24::text[]) WITH ORDINALITY
  AS n (id, run_id, forge, org, rule, revision_id, step_id, step_no, item_key, intent_key, action, params, target, order_key, effect_key, effect_hash,
        mode, planned_at, approval, two_people, counts_for, background, object, names, place)
ORDER BY n.place`;

export function effectHash(effectKey: string): Buffer {
  return keyOf('effect', effectKey);
}

/** @returns false when a run of this key exists: the decision was made before */
async function insertRun(manager: EntityManager, run: NewRun): Promise<boolean> {
  return (await insertRunsAtOnce(manager, [run])).has(run.id);
}

/** @returns ids of those that were written; of the others a run of the key exists */
async function insertRunsAtOnce(manager: EntityManager, runs: readonly NewRun[]): Promise<ReadonlySet<string>> {
  const rows = runs.map((run) => ({
    ...run,
    ...reasonColumns(run.reason),
    cause: stringifyJson(run.cause),
    eventId: run.cause.kind === 'event' ? run.cause.eventId : null,
    repoId: run.cause.kind === 'event' ? null : run.cause.subject || null,
    trace: stringifyJson(run.trace),
    lookups: stringifyJson(run.lookups),
  }));
  const names = [
    'id',
    'forge',
    'org',
    'rule',
    'kind',
    'revisionId',
    'cause',
    'eventId',
    'runKey',
    'mode',
    'state',
    'reasonCode',
    'reasonParams',
    'trace',
    'lookups',
    'decidedAt',
    'repoId',
  ] as const;
  const made = await execute<{ id: string }>(manager, INSERT_RUNS, columnsOf(rows, names));
  return new Set(made.rows.map(({ id }) => id));
}

/** In this order: it is the order of planning. Due at once by the database's clock, whatever the planner's clock says. */
async function insertIntents(manager: EntityManager, intents: readonly NewIntent[]): Promise<void> {
  if (intents.length === 0) return;
  const rows = intents.map((intent) => ({
    ...intent,
    params: stringifyJson(intent.params),
    target: stringifyJson(intent.target),
    effectHash: effectHash(intent.effectKey),
    approval: intent.approval ?? null,
    twoPeople: intent.twoPeople ?? false,
    countsFor: intent.countsFor ? stringifyJson({ ...intent.countsFor }) : null,
    background: intent.background ?? false,
    object: intent.object ?? null,
    names: intent.names?.join('\n') ?? null,
  }));
  const names = [
    'id',
    'runId',
    'forge',
    'org',
    'rule',
    'revisionId',
    'stepId',
    'stepNo',
    'itemKey',
    'intentKey',
    'action',
    'params',
    'target',
    'orderKey',
    'effectKey',
    'effectHash',
    'mode',
    'plannedAt',
    'approval',
    'twoPeople',
    'countsFor',
    'background',
    'object',
    'names',
  ] as const;
  await execute(manager, INSERT_INTENTS, columnsOf(rows, names));
}
