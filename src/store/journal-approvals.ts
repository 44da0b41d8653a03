import type { EntityManager } from 'typeorm';
import { canMove } from '../core/state-table.js';
import { intentReason } from '../core/run-reasons.js';
import { reasonColumns } from './reason-columns.js';
import { execute } from './database.js';
import { wantsApproval } from './journal-conditions.js';
import { cancelLaterSteps, endRun, lockRun } from './journal-moves.js';

const TO = { given: 'planned', denied: 'cancelled' } as const;

const DECIDE = `
UPDATE intents i SET state = $2, approval = $3, approval_by = $4, approval_at = clock_timestamp(), reason = NULL, reason_code = $5, approval_beside = $6::text, reason_params = $7, due_at = clock_timestamp(), updated_at = clock_timestamp()
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
  const asked = `SELECT i.id FROM intents i WHERE i.run_id = $1 AND (i.id = $2 OR $1 = $2) AND ${wantsApproval('i')} ORDER BY i.seq`;
  const { rows } = await execute<{ id: string }>(manager, asked, [runId, id]);
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
    if (verdict === 'denied') await cancelLaterSteps(manager, runId, step.step_no);
  }
  if (verdict === 'denied') await endRun(manager, runId);
  return decided;
}
