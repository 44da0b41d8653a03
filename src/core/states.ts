/** States of an intent; `state-table.ts` has the allowed moves. */
const OPEN_STATES = ['planned', 'claimed', 'sent', 'unknown'] as const;
export const ENDED_STATES = ['done', 'unchanged', 'refused', 'conflict', 'suppressed', 'cancelled', 'dead'] as const;
export const INTENT_STATES = [...OPEN_STATES, 'waiting', ...ENDED_STATES] as const;
/** Of what is under way, or ended so that a person should look at it. */
export const UNSETTLED_STATES = [...OPEN_STATES, 'waiting', 'dead'] as const;

/**
 * States of a run. `gathering`: it waits for the end of its `coalesce` window, when it is decided; `coalesced`: a later cause of the same key took its place.
 */
export const RUN_STATES = [
  'open',
  'done',
  'failed',
  'cancelled',
  'not-fired',
  'error',
  'gathering',
  'coalesced',
] as const;

export type EndedState = (typeof ENDED_STATES)[number];
export type IntentState = (typeof INTENT_STATES)[number];

export function isEnded(state: IntentState): state is EndedState {
  return (ENDED_STATES as readonly string[]).includes(state);
}
