import { parseJson, stringifyJson, type JsonObject } from '../core/json.js';
import type { Reason } from '../core/reason.js';
import { legacyReason } from '../core/run-reasons.js';

/** A reason as a row has it: code and parameters. Rows of before reasons had codes hold a text, and no parameters. */
export interface ReasonColumns {
  readonly reason?: string | null;
  readonly reasonCode: string | null;
  readonly reasonParams: string | null;
}

/** Values of the columns `reason_code` and `reason_params`. */
export function reasonColumns(reason: Reason | null): Required<Omit<ReasonColumns, 'reason'>> {
  return { reasonCode: reason?.code ?? null, reasonParams: reason && stringifyJson(reason.params) };
}

export function reasonOf({ reason: text, reasonCode: code, reasonParams: params }: ReasonColumns): Reason | null {
  if (code !== null && params !== null) return { code, params: parseJson(params) as JsonObject };
  if (text === null || text === undefined) return null;
  return legacyReason('legacy', { text });
}

/** Of a run, which always has one. */
export function runReasonOf(row: ReasonColumns): Reason {
  return reasonOf(row) ?? legacyReason('legacy', { text: '' });
}
