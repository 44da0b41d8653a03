import type { EntityManager } from 'typeorm';
import { stringifyJson } from '../core/json.js';
import type { NewIntent, NewRun } from '../core/run.js';
import { columnsOf } from './batch.js';
import { execute } from './database.js';
import { reasonColumns } from './reason-columns.js';
import { keyOf } from './keys.js';

const INSERT_RUNS = `
INSERT INTO runs (id, forge, org, rule, kind, revision_id, cause, event_id, run_key, mode, state, reason_code, reason_params, trace, lookups, decided_at, ended_at)
SELECT n.id, n.forge, n.org, n.rule, n.kind, n.revision_id, n.cause, n.event_id, n.run_key, n.mode, n.state, n.reason_code, n.reason_params, n.trace, n.lookups, n.decided_at,
       CASE WHEN n.state IN ('open', 'gathering') THEN NULL ELSE clock_timestamp() END
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
            $12::text[], $13::text[], $14::text[], $15::text[], $16::timestamptz[]) WITH ORDINALITY
  AS n (id, forge, org, rule, kind, revision_id, cause, event_id, run_key, mode, state, reason_code, reason_params, trace, lookups, decided_at, place)
ORDER BY n.place
ON CONFLICT (run_key) DO NOTHING
RETURNING id`;

const INSERT_INTENTS = `
INSERT INTO intents (id, run_id, forge, org, rule, revision_id, step_id, step_no, item_key, intent_key, action, params, target, lane, effect_key, effect_hash,
                     mode, planned_at, approval, two_people, counts_for, background, state, due_at, epoch, attempts, tries, updated_at)
SELECT n.id, n.run_id, n.forge, n.org, n.rule, n.revision_id, n.step_id, n.step_no, n.item_key, n.intent_key, n.action, n.params, n.target, n.lane, n.effect_key, n.effect_hash,
       n.mode, n.planned_at, n.approval, n.two_people, n.counts_for, n.background, CASE WHEN n.approval = 'wanted' THEN 'waiting' ELSE 'planned' END, clock_timestamp(), 0, 0, 0, clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[], $10::text[], $11::text[], $12::text[],
            $13::text[], $14::text[], $15::text[], $16::bytea[], $17::text[], $18::timestamptz[], $19::text[], $20::boolean[], $21::text[], $22::boolean[]) WITH ORDINALITY
  AS n (id, run_id, forge, org, rule, revision_id, step_id, step_no, item_key, intent_key, action, params, target, lane, effect_key, effect_hash,
        mode, planned_at, approval, two_people, counts_for, background, place)
ORDER BY n.place`;

export function effectHash(effectKey: string): Buffer {
  return keyOf('effect', effectKey);
}

/** @returns false when a run of this key exists: the decision was made before */
export async function insertRun(manager: EntityManager, run: NewRun): Promise<boolean> {
  return (await insertRunsAtOnce(manager, [run])).has(run.id);
}

/** @returns ids of those that were written; of the others a run of the key exists */
export async function insertRunsAtOnce(manager: EntityManager, runs: readonly NewRun[]): Promise<ReadonlySet<string>> {
  const rows = runs.map((run) => ({
    ...run,
    ...reasonColumns(run.reason),
    cause: stringifyJson(run.cause),
    eventId: run.cause.kind === 'event' ? run.cause.eventId : null,
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
  ] as const;
  const made = await execute<{ id: string }>(manager, INSERT_RUNS, columnsOf(rows, names));
  return new Set(made.rows.map(({ id }) => id));
}

/** In this order: it is the order of planning. Due at once by the database's clock, whatever the planner's clock says. */
export async function insertIntents(manager: EntityManager, intents: readonly NewIntent[]): Promise<void> {
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
    'lane',
    'effectKey',
    'effectHash',
    'mode',
    'plannedAt',
    'approval',
    'twoPeople',
    'countsFor',
    'background',
  ] as const;
  await execute(manager, INSERT_INTENTS, columnsOf(rows, names));
}
