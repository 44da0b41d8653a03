import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface WantedMerge {
  readonly number: string;
  readonly sha: string;
}

export interface SeenPull {
  readonly there: boolean;
  readonly merged: boolean;
  readonly state: string;
  readonly head: string;
}

/** A pull request is merged once: whether it is can be read, and the head is pinned. */
export const mergeRecovery = defineRecovery<WantedMerge, SeenPull>({
  reads: ['getPull'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { number }) {
    const pull = await whereOffered(forge.getPull, (get) => orMissing(get({ ...placeOf(target), index: number })));
    if (pull === undefined) return null;
    return {
      there: pull !== null,
      merged: pull?.merged === true,
      state: pull?.state ?? '',
      head: pull?.head?.sha ?? '',
    };
  },

  decide: decideMerge,
});

export function decideMerge({ wanted: { number, sha }, seen }: RecoveryFacts<WantedMerge, SeenPull>): Verdict {
  if (seen === null) return askPerson(`pull request #${number} cannot be read`);
  if (!seen.there) return settledAs('refused', `pull request #${number} is not there any more`);
  if (seen.merged) return done(`pull request #${number} is merged`);
  if (seen.head !== sha) return settledAs('refused', `the head of #${number} moved`);
  return seen.state === 'open'
    ? resend(`pull request #${number} is not merged`)
    : settledAs('refused', `pull request #${number} is closed`);
}
