import type { Reason } from './reason.js';
import { runReason } from './run-reasons.js';

/** Name under which the proof of an act is kept with the lookups of a run; no rule can name a lookup so. */
export const ACT_LOOKUP = '@act';

/** Code of a refusal: another event told the same act, and the rule acted upon that. */
export const TOLD_BEFORE = 'act.told_before';

export function toldBefore(eventId: string): string {
  return `event ${eventId} told this act already`;
}

export function toldBeforeReason(eventId: string): Reason {
  return runReason('run.not-confirmed', { code: TOLD_BEFORE, because: toldBefore(eventId) });
}
