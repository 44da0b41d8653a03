import type { IntentState } from './states.js';
import { isEnded } from './states.js';
import type { Approval, RunState } from './run.js';

/** Who asks for a move: the work itself, a person who revives a dead letter, or one who approves or denies what waits for that. */
export type MoveClass = 'work' | 'retry' | 'approval';

/**
 * The one table of allowed moves; every other move is refused.
 *
 * `sent -> planned` is for calls that had no effect for sure (not sent, rate limited), and for those that were a step on the way (`onTheWay` of an action). `unknown` never goes back to `planned` without a
 * read, an arrival or a person that ended it; where none can, it is `waiting` with its reason.
 */
const WORK: Readonly<Record<IntentState, readonly IntentState[]>> = {
  planned: ['claimed', 'suppressed', 'cancelled'],
  claimed: ['planned', 'sent', 'unchanged', 'conflict', 'refused', 'suppressed', 'cancelled', 'waiting', 'dead'],
  sent: ['done', 'unchanged', 'planned', 'refused', 'conflict', 'unknown', 'dead'],
  unknown: ['waiting', 'planned', 'done', 'unchanged', 'refused', 'conflict', 'suppressed', 'dead'],
  waiting: ['planned', 'done', 'unchanged', 'refused', 'conflict', 'suppressed', 'cancelled', 'dead'],
  done: [],
  unchanged: [],
  refused: [],
  conflict: [],
  suppressed: [],
  cancelled: [],
  dead: [],
};

/** `cancelled` is revived only as a later step of an intent that is revived itself; `suppressed` only where a person's undo suppressed it. */
const RETRY: Readonly<Partial<Record<IntentState, readonly IntentState[]>>> = {
  dead: ['planned'],
  refused: ['planned'],
  cancelled: ['planned'],
  suppressed: ['planned'],
};

/** Only for intents that wait for an approval. Intents that wait because their outcome is unknown end when a read or a person finds the outcome. */
const APPROVAL: Readonly<Partial<Record<IntentState, readonly IntentState[]>>> = { waiting: ['planned', 'cancelled'] };

const TABLE: Readonly<Record<MoveClass, Readonly<Partial<Record<IntentState, readonly IntentState[]>>>>> = {
  work: WORK,
  retry: RETRY,
  approval: APPROVAL,
};

export function canMove(from: IntentState, to: IntentState, by: MoveClass = 'work'): boolean {
  return (TABLE[by][from] ?? []).includes(to);
}

/** Whether an intent waits for an approval. It holds no effect key, since it cannot have had an effect yet. */
export function waitsForApproval({
  state,
  approval,
}: {
  readonly state: IntentState;
  readonly approval?: Approval | null | undefined;
}): boolean {
  return state === 'waiting' && approval === 'wanted';
}

/** Ends after which the later steps of the run are cancelled. */
export const BAD_ENDS = ['refused', 'conflict', 'dead', 'cancelled'] as const satisfies readonly IntentState[];

/** Ends of which one makes the whole run a failure. */
export const FAILED_ENDS = ['refused', 'conflict', 'dead'] as const satisfies readonly IntentState[];

/** Ends after which the next step of the run may start; `suppressed` because a dry run goes through all its steps. */
export const GOOD_ENDS = ['done', 'unchanged', 'suppressed'] as const satisfies readonly IntentState[];

export function isBadEnd(state: IntentState): boolean {
  return (BAD_ENDS as readonly IntentState[]).includes(state);
}

/** States in which an intent holds its effect key; others of the same key queue behind it. One that `waitsForApproval` holds none. */
export const HOLDING_STATES = ['claimed', 'sent', 'unknown', 'waiting'] as const satisfies readonly IntentState[];

/** State of a run by the states of its intents; `open` while one of them has not ended. */
export function runStateOf(states: readonly IntentState[]): RunState {
  if (states.some((state) => !isEnded(state))) return 'open';
  if (states.some((state) => (FAILED_ENDS as readonly IntentState[]).includes(state))) return 'failed';
  return states.some((state) => state === 'cancelled') ? 'cancelled' : 'done';
}
