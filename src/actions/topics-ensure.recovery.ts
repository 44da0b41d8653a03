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
import { isSameSetting } from './support/settings.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface SeenTopics {
  /** Null = the repository is gone. */
  readonly topics: readonly string[] | null;
}

/** The list as a whole was sent: it is there, or the next call computes it anew from what is there. */
export const topicsRecovery = defineRecovery<unknown, SeenTopics>({
  reads: ['listTopics'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }) {
    const found = await whereOffered(forge.listTopics, (list) => orMissing(list(placeOf(target))));
    return found === undefined ? null : { topics: found === null ? null : (found.topics ?? []) };
  },

  decide: decideTopics,
});

function decideTopics({ snapshot, seen }: RecoveryFacts<unknown, SeenTopics>): Verdict {
  if (seen === null) return askPerson('the topics cannot be read');
  if (seen.topics === null) return settledAs('refused', 'the repository is not there any more');
  const goal = snapshot?.['goal'];
  return Array.isArray(goal) && isSameSetting(goal, [...seen.topics])
    ? done('the topics are as wanted')
    : resend('the topics are not as wanted yet');
}
