import {
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface WantedState {
  readonly number: string;
  readonly state: string;
}

export interface SeenState {
  /** Null = it is gone. */
  readonly state: string | null;
}

/** One field of one issue, absolute. */
export const issueStateRecovery = defineRecovery<WantedState, SeenState>({
  reads: ['getIssue'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }, { number }) {
    const issue = await whereOffered(forge.getIssue, (get) => orMissing(get({ ...placeOf(target), index: number })));
    return issue === undefined ? null : { state: issue?.state ?? null };
  },

  decide: decideIssueState,
});

function decideIssueState({ wanted: { number, state }, seen }: RecoveryFacts<WantedState, SeenState>): Verdict {
  if (seen === null) return resend(`#${number} cannot be read; the same state sent again does no harm`);
  if (seen.state === null) return settledAs('refused', `#${number} is not there any more`);
  return seen.state === state ? done(`#${number} is ${state}`) : resend(`#${number} is ${seen.state}`);
}
