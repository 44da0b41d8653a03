import type { EntityManager } from 'typeorm';
import { budgetReason } from '../core/budgets.js';
import { stringifyJson } from '../core/json.js';
import type { Reason } from '../core/reason.js';
import { LATER_STEP, intentReason } from '../core/run-reasons.js';
import type { Approval } from '../core/run.js';
import { BAD_ENDS, FAILED_ENDS, canMove, isBadEnd, waitsForApproval } from '../core/state-table.js';
import { INTENT_STATES, type IntentState, isEnded } from '../core/states.js';
import type { IntentMove } from '../pipeline/journal-store.port.js';
import { reasonColumns } from './columns.js';
import { execute, type Rows, type Statement } from './database.js';
import { forgetHolds, takePlace } from './journal-budgets.js';
import { list, wantsApproval } from './journal-statements.js';

/**
 * Times of the caller become distances: what is due is decided by the database's clock alone. A move is made where the row is as the move says,
 * and wants no approval.
 */
const MOVE = `
UPDATE intents i SET
  state = m.state, reason_code = m.reason_code, reason_params = m.reason_params, updated_at = clock_timestamp(), lease_until = NULL, reads = 0, sightings = 0,
  due_at = CASE WHEN m.due_in_ms IS NULL THEN i.due_at ELSE clock_timestamp() + m.due_in_ms * interval '1 millisecond' END,
  result = coalesce(m.result, i.result), held = m.held_by IS NOT NULL OR m.waits, held_by = m.held_by,
  aside = m.aside OR m.state IN ('unknown', 'waiting'),
  held_since = CASE WHEN m.held_by IS NULL THEN i.held_since ELSE coalesce(i.held_since, clock_timestamp()) END,
  failing_since = CASE WHEN m.failed IS NULL THEN i.failing_since ELSE coalesce(i.failing_since, clock_timestamp()) END,
  tries = i.tries + CASE WHEN m.failed = 'counted' THEN 1 ELSE 0 END
FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[], $5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::integer[], $11::integer[], $12::text[],
  $13::boolean[])
  AS m (id, state, reason_code, due_in_ms, result, failed, held_by, reason_params, waits, epoch, attempts, from_states, aside)
WHERE i.id = m.id AND (m.epoch IS NULL OR m.epoch = i.epoch) AND (m.attempts IS NULL OR m.attempts = i.attempts)
  AND i.state = ANY (string_to_array(m.from_states, ' ')) AND (${wantsApproval('i')}) IS NOT TRUE
RETURNING i.id`;

/** The later steps of what is held leave the order with it: nobody reads them again until its turn has come. */
const HOLD_LATER_STEPS = `
UPDATE intents l SET held = true, held_by = h.held_by, due_at = greatest(l.due_at, h.due_at), updated_at = clock_timestamp()
FROM intents h WHERE h.id = ANY ($1) AND l.run_id = h.run_id AND l.step_no > h.step_no AND l.state = 'planned'`;

const LOCK_RUNS =
  'SELECT r.id FROM runs r WHERE r.id IN (SELECT run_id FROM intents WHERE id = ANY ($1)) ORDER BY r.id FOR NO KEY UPDATE';

const LOCK_INTENTS =
  'SELECT id, org, state, epoch, attempts, approval FROM intents WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE';

interface Movable {
  readonly id: string;
  readonly org: string;
  readonly state: IntentState;
  readonly epoch: number;
  readonly attempts: number;
  readonly approval: Approval | null;
}

/** One lock for all that changes states in a run: two intents that end at the same time must see each other. */
async function lockRun(manager: EntityManager, intentOrRunId: string): Promise<string | null> {
  const sql =
    'SELECT r.id FROM runs r WHERE r.id = $1 OR r.id = (SELECT run_id FROM intents WHERE id = $1) FOR NO KEY UPDATE';
  return (await execute<{ id: string }>(manager, sql, [intentOrRunId])).rows[0]?.id ?? null;
}

export async function moveIntent(manager: EntityManager, move: IntentMove): Promise<boolean> {
  return (await moveIntents(manager, [move]))[0] ?? false;
}

/** Each for itself, in one order of locks. @param moves of different intents @returns whether each was made */
export async function moveIntents(manager: EntityManager, moves: readonly IntentMove[]): Promise<boolean[]> {
  const ids = moves.map(({ intentId }) => intentId);
  await execute(manager, LOCK_RUNS, [ids]);
  const places = await placesFor(manager, moves, (await execute<Movable>(manager, LOCK_INTENTS, [ids])).rows);
  const made = [];
  for (const { sql, params } of writeStatements(moves, places))
    made.push(await execute<{ id: string }>(manager, sql, params));
  return movesMade(moves, made[0]);
}

/** The same as statements that need nothing of each other's answers, for moves that no budget holds; the second is answered with what was moved. */
export function moveStatements(moves: readonly IntentMove[]): Statement[] {
  const locks = { sql: LOCK_RUNS, params: [moves.map(({ intentId }) => intentId)] };
  return [locks, ...writeStatements(moves, new Map())];
}

/** What is written once the rows are locked; the first one answers with the intents that were moved. */
function writeStatements(moves: readonly IntentMove[], places: Places): Statement[] {
  const now = Date.now();
  const ids = moves.map(({ intentId }) => intentId);
  const reasons = moves.map((move) => reasonColumns(places.get(move)?.reason ?? move.reason));
  const bad = moves.flatMap(({ intentId, to }) => (isBadEnd(to) ? [intentId] : []));
  const ended = moves.flatMap(({ intentId, to }) => (isEnded(to) ? [intentId] : []));
  const params = [
    ids,
    moves.map(({ to }) => to),
    reasons.map(({ reasonCode }) => reasonCode),
    moves.map((move) => places.get(move)?.inMs ?? (move.dueAt ? move.dueAt.getTime() - now : null)),
    moves.map(({ result }) => (result === undefined ? null : stringifyJson(result))),
    moves.map(({ failed }) => failed ?? null),
    moves.map(({ spentBudget }) => spentBudget?.limit.key ?? null),
    reasons.map(({ reasonParams }) => reasonParams),
    moves.map(({ waits, aside }) => waits === true || aside === true),
    moves.map(({ epoch }) => epoch),
    moves.map(({ attempts }) => attempts ?? null),
    moves.map(({ from, to }) => from.filter((state) => canMove(state, to)).join(' ')),
    moves.map(({ aside }) => aside === true),
  ];
  return [
    { sql: MOVE, params },
    ...(places.size > 0
      ? [{ sql: HOLD_LATER_STEPS, params: [[...places.keys()].map(({ intentId }) => intentId)] }]
      : []),
    ...(bad.length > 0 ? [{ sql: CANCEL_LATER_STEPS, params: [bad, LATER_STEP.code] }] : []),
    ...(ended.length > 0 ? [{ sql: END_RUNS, params: [ended] }] : []),
  ];
}

/** @param made answer to the statement that moves */
export function movesMade(moves: readonly IntentMove[], made: Rows<{ id?: unknown }> | undefined): boolean[] {
  const moved = new Set(made?.rows.map(({ id }) => id));
  return moves.map(({ intentId }) => moved.has(intentId));
}

type Places = ReadonlyMap<IntentMove, { readonly inMs: number; readonly reason: Reason }>;

/** A place in its budget for each that is held and may be moved, in one order of budgets: two transactions cannot wait for each other. */
async function placesFor(
  manager: EntityManager,
  moves: readonly IntentMove[],
  locked: readonly Movable[],
): Promise<Places> {
  const places = new Map<IntentMove, { inMs: number; reason: Reason }>();
  const rowOf = new Map(locked.map((row) => [row.id, row]));
  const ownMoves = moves.flatMap((move) => {
    const row = rowOf.get(move.intentId);
    return move.spentBudget && row && mayMove(row, move) ? [{ move, row, spent: move.spentBudget }] : [];
  });
  for (const { move, row, spent } of ownMoves.sort((a, b) => (a.spent.limit.key < b.spent.limit.key ? -1 : 1))) {
    const inMs = await takePlace(manager, row.org, spent);
    places.set(move, { inMs, reason: budgetReason({ ...spent, againInMs: inMs }) });
  }
  if (places.size > 0) await forgetHolds(manager);
  return places;
}

function mayMove(row: Movable, move: IntentMove): boolean {
  if (move.epoch !== null && move.epoch !== row.epoch) return false;
  if (move.attempts !== undefined && move.attempts !== row.attempts) return false;
  return move.from.includes(row.state) && canMove(row.state, move.to) && !waitsForApproval(row);
}

/** Behind each of these that came to a bad end: what is planned, and what waits for an approval, for nobody should be asked about what cannot come any more. */
const CANCEL_LATER_STEPS = `
UPDATE intents l SET state = 'cancelled', reason_code = $2, reason_params = '{}', updated_at = clock_timestamp()
FROM intents b WHERE b.id = ANY ($1) AND b.state IN (${list(BAD_ENDS)}) AND l.run_id = b.run_id AND l.step_no > b.step_no
  AND (l.state = 'planned' OR ${wantsApproval('l')})`;

/**
 * The runs of these intents, where all intents have ended (`runStateOf`); their rows are locked. Each run is asked for by itself: a plan that groups
 * all intents would read them all.
 */
const END_RUNS = `
UPDATE runs r SET state = e.state, ended_at = clock_timestamp() FROM (
  SELECT m.run_id, s.state, s.is_over FROM (SELECT DISTINCT run_id FROM intents WHERE id = ANY ($1)) AS m CROSS JOIN LATERAL (
    SELECT bool_and(i.state IN (${list(INTENT_STATES.filter(isEnded))})) AS is_over,
      CASE WHEN bool_or(i.state IN (${list(FAILED_ENDS)})) THEN 'failed' WHEN bool_or(i.state = 'cancelled') THEN 'cancelled' ELSE 'done' END AS state
    FROM intents i WHERE i.run_id = m.run_id
  ) AS s
) AS e WHERE r.id = e.run_id AND e.is_over AND r.ended_at IS NULL`;

/** Forget that a person undid this effect: another one wants it again. */
export async function rearm(manager: EntityManager, intentId: string): Promise<void> {
  await execute(manager, 'DELETE FROM undone WHERE effect_hash = (SELECT effect_hash FROM intents WHERE id = $1)', [
    intentId,
  ]);
}

/** A dead or refused intent, or one that a person's undo suppressed, is planned again, with the later steps that its end cancelled. */
export async function reviveIntent(manager: EntityManager, intentId: string, by: string): Promise<boolean> {
  const runId = await lockRun(manager, intentId);
  if (runId === null) return false;
  const revive = `state = CASE approval WHEN 'wanted' THEN 'waiting' ELSE 'planned' END, reason_code = $2, reason_params = $3, due_at = clock_timestamp(), tries = 0, failing_since = NULL, updated_at = clock_timestamp()`;
  const { reasonCode, reasonParams } = reasonColumns(intentReason('intent.revived', { by }));
  const { rows } = await execute<{ step_no: number }>(
    manager,
    `UPDATE intents SET ${revive} WHERE id = $1 AND (state IN ('dead', 'refused') OR (state = 'suppressed' AND mode = 'live')) RETURNING step_no`,
    [intentId, reasonCode, reasonParams],
  );
  const row = rows[0];
  if (!row) return false;
  await rearm(manager, intentId);
  const later = `UPDATE intents SET ${revive} WHERE run_id = $1 AND step_no > $4 AND state = 'cancelled' AND reason_code = $5`;
  await execute(manager, later, [runId, reasonCode, reasonParams, row.step_no, LATER_STEP.code]);
  const open = `UPDATE runs SET state = 'open', ended_at = NULL, earlier_n = coalesce(sealed_n, earlier_n), sealed_n = NULL WHERE id = $1`;
  await execute(manager, open, [runId]);
  return true;
}

const TO = { given: 'planned', denied: 'cancelled' } as const;

const DECIDE = `
UPDATE intents i SET state = $2, approval = $3, approval_by = $4, approval_at = clock_timestamp(), reason_code = $5, approval_beside = $6::text, reason_params = $7, due_at = clock_timestamp(), updated_at = clock_timestamp()
WHERE i.id = $1 AND ${wantsApproval('i')} RETURNING i.step_no`;

/** One intent, or all of a run that wait for an approval. @returns ids of those that were decided about */
export async function approve(
  manager: EntityManager,
  id: string,
  verdict: 'given' | 'denied',
  by: string,
  beside: string | null,
): Promise<string[]> {
  if (!canMove('waiting', TO[verdict], 'approval')) throw new Error(`the state table has no move for ${verdict}`);
  const runId = await lockRun(manager, id);
  if (runId === null) return [];
  const wanting = `SELECT i.id FROM intents i WHERE i.run_id = $1 AND (i.id = $2 OR $1 = $2) AND ${wantsApproval('i')} ORDER BY i.seq`;
  const { rows } = await execute<{ id: string }>(manager, wanting, [runId, id]);
  const decided: string[] = [];
  for (const row of rows) {
    const reason = intentReason(verdict === 'given' ? 'intent.approved' : 'intent.denied', { by });
    const { reasonCode, reasonParams } = reasonColumns(reason);
    const moved = await execute<{ step_no: number }>(manager, DECIDE, [
      row.id,
      TO[verdict],
      verdict,
      by,
      reasonCode,
      beside,
      reasonParams,
    ]);
    const [step] = moved.rows;
    // An earlier one of this run that was denied may have cancelled it meanwhile.
    if (!step) continue;
    decided.push(row.id);
    if (verdict === 'denied') await execute(manager, CANCEL_LATER_STEPS, [[row.id], LATER_STEP.code]);
  }
  if (verdict === 'denied') await execute(manager, END_RUNS, [decided]);
  return decided;
}
