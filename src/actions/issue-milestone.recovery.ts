import type { Issue } from '../core/objects/tracker.js';
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

export interface WantedMilestoneOf {
  readonly number: string;
  /** Undefined = none. */
  readonly title?: string | undefined;
}

export interface SeenMilestoneOf {
  readonly there: boolean;
  /** Null = none. */
  readonly title: string | null;
}

export function titleOf(issue: Pick<Issue, 'milestone'>): string | null {
  return issue.milestone?.title?.trim() ?? null;
}

/** One field of one issue, absolute. */
export const issueMilestoneRecovery = defineRecovery<WantedMilestoneOf, SeenMilestoneOf>({
  reads: ['getIssue'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }, { number }) {
    const issue = await whereOffered(forge.getIssue, (get) => orMissing(get({ ...placeOf(target), index: number })));
    return issue === undefined ? null : { there: issue !== null, title: issue === null ? null : titleOf(issue) };
  },

  decide: decideIssueMilestone,
});

function decideIssueMilestone({ wanted, snapshot, seen }: RecoveryFacts<WantedMilestoneOf, SeenMilestoneOf>): Verdict {
  const goal = wanted.title?.trim() ?? null;
  if (seen === null) return resend(`#${wanted.number} cannot be read; the same milestone sent again does no harm`);
  if (!seen.there) return settledAs('refused', `#${wanted.number} is not there any more`);
  if (seen.title === goal) return done(`milestone of #${wanted.number}: ${goal ?? 'none'}`);
  if (snapshot !== null && seen.title !== (snapshot['title'] ?? null))
    return settledAs('conflict', `somebody else gave #${wanted.number} another milestone meanwhile`);
  return resend(`#${wanted.number} has the milestone of before`);
}
