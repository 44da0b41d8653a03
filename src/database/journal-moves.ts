import type { EntityManager } from 'typeorm';
import { stringifyJson } from '../core/json.js';
import { isEnded, type IntentState } from '../core/states.js';
import type { Approval } from '../journal/run.js';
import type { IntentMove } from '../journal/journal-store.js';
import { LATER_STEP_REASON, canMove, isBadEnd, runStateOf, waitsForApproval } from '../journal/state-table.js';
import { execute } from './database.js';
import { wantsApproval } from './journal-conditions.js';

const MOVE = `
UPDATE intents SET
  state = $2, reason = $3, updated_at = clock_timestamp(), lease_until = NULL, reads = 0, sightings = 0,
  due_at = CASE WHEN $4::double precision IS NULL THEN due_at ELSE clock_timestamp() + $4::double precision * interval '1 millisecond' END,
  result = coalesce($5, result), held = $7,
  failing_since = CASE WHEN $6::text IS NULL THEN failing_since ELSE coalesce(failing_since, clock_timestamp()) END,
  tries = tries + CASE WHEN $6::text = 'counted' THEN 1 ELSE 0 END
WHERE id = $1`;

/** One lock for all that changes states in a run: two intents that end at the same time must see each other. */
export async function lockRun(manager: EntityManager, intentOrRunId: string): Promise<string | null> {
  const sql = 'SELECT r.id FROM runs r WHERE r.id = $1 OR r.id = (SELECT run_id FROM intents WHERE id = $1) FOR NO KEY UPDATE';
  return (await execute<{ id: string }>(manager, sql, [intentOrRunId])).rows[0]?.id ?? null;
}

export async function moveIntent(manager: EntityManager, move: IntentMove): Promise<boolean> {
  const runId = await lockRun(manager, move.intentId);
  if (runId === null) return false;
  const { rows } = await execute<{ state: IntentState; epoch: number; attempts: number; step_no: number; approval: Approval | null }>(
    manager,
    'SELECT state, epoch, attempts, step_no, approval FROM intents WHERE id = $1 FOR NO KEY UPDATE',
    [move.intentId],
  );
  const row = rows[0];
  if (!row || (move.epoch !== null && move.epoch !== row.epoch)) return false;
  if (move.attempts !== undefined && move.attempts !== row.attempts) return false;
  if (!move.from.includes(row.state) || !canMove(row.state, move.to) || waitsForApproval(row)) return false;
  // Times of the caller become distances: what is due is decided by the database's clock alone.
  const dueInMs = move.dueAt ? move.dueAt.getTime() - Date.now() : null;
  const result = move.result === undefined ? null : stringifyJson(move.result);
  await execute(manager, MOVE, [move.intentId, move.to, move.reason, dueInMs, result, move.failed ?? null, move.held ?? false]);
  if (isBadEnd(move.to)) await cancelLaterSteps(manager, runId, row.step_no);
  if (isEnded(move.to)) await endRun(manager, runId);
  return true;
}

/** What is planned, and what waits for an approval: nobody should be asked about what cannot come any more. */
export async function cancelLaterSteps(manager: EntityManager, runId: string, stepNo: number): Promise<void> {
  const sql = `UPDATE intents SET state = 'cancelled', reason = $3, updated_at = clock_timestamp() WHERE run_id = $1 AND step_no > $2 AND (state = 'planned' OR ${wantsApproval('intents')})`;
  await execute(manager, sql, [runId, stepNo, LATER_STEP_REASON]);
}

export async function endRun(manager: EntityManager, runId: string): Promise<void> {
  const { rows } = await execute<{ state: IntentState }>(manager, 'SELECT DISTINCT state FROM intents WHERE run_id = $1', [runId]);
  const state = runStateOf(rows.map((row) => row.state));
  if (state === 'open') return;
  await execute(manager, 'UPDATE runs SET state = $2, ended_at = clock_timestamp() WHERE id = $1 AND ended_at IS NULL', [runId, state]);
}

/** Forget that a person undid this effect: another one wants it again. */
export async function rearm(manager: EntityManager, intentId: string): Promise<void> {
  await execute(manager, 'DELETE FROM undone WHERE effect_hash = (SELECT effect_hash FROM intents WHERE id = $1)', [intentId]);
}

/** A dead or refused intent, or one that a person's undo suppressed, is planned again, with the later steps that its end cancelled. */
export async function reviveIntent(manager: EntityManager, intentId: string, by: string): Promise<boolean> {
  const runId = await lockRun(manager, intentId);
  if (runId === null) return false;
  const revive = `state = CASE approval WHEN 'wanted' THEN 'waiting' ELSE 'planned' END, reason = $2, due_at = clock_timestamp(), tries = 0, failing_since = NULL, updated_at = clock_timestamp()`;
  const reason = `revived by ${by}`;
  const { rows } = await execute<{ step_no: number }>(
    manager,
    `UPDATE intents SET ${revive} WHERE id = $1 AND (state IN ('dead', 'refused') OR (state = 'suppressed' AND mode = 'live')) RETURNING step_no`,
    [intentId, reason],
  );
  const row = rows[0];
  if (!row) return false;
  await rearm(manager, intentId);
  const later = `UPDATE intents SET ${revive} WHERE run_id = $1 AND step_no > $3 AND state = 'cancelled' AND reason = $4`;
  await execute(manager, later, [runId, reason, row.step_no, LATER_STEP_REASON]);
  await execute(manager, `UPDATE runs SET state = 'open', ended_at = NULL WHERE id = $1`, [runId]);
  return true;
}
