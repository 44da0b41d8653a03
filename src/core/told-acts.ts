import type { Reason } from './reason.js';
import { runReason } from './run-reasons.js';

/** Code of a refusal: another event told the same act, and the rule acted upon that. */
export const TOLD_BEFORE = 'act.told_before';

export function toldBefore(eventId: string): string {
  return `event ${eventId} told this act already`;
}

export function toldBeforeReason(eventId: string): Reason {
  return runReason('run.not-confirmed', { code: TOLD_BEFORE, because: toldBefore(eventId) });
}
