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

export interface SeenAssignees {
  /** Logins in lower case; null = the issue is gone. */
  readonly logins: readonly string[] | null;
}

/** The whole list is one absolute value; what it was to be was remembered before the call. */
export const issueAssignRecovery = defineRecovery<{ readonly number: string }, SeenAssignees>({
  reads: ['getIssue'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { number }) {
    const issue = await whereOffered(forge.getIssue, (get) => orMissing(get({ ...placeOf(target), index: number })));
    return issue === undefined
      ? null
      : { logins: issue === null ? null : (issue.assignees ?? []).map(({ login }) => (login ?? '').toLowerCase()) };
  },

  decide: decideAssignees,
});

function decideAssignees({
  wanted: { number },
  snapshot,
  seen,
}: RecoveryFacts<{ readonly number: string }, SeenAssignees>): Verdict {
  if (seen === null) return resend(`#${number} cannot be read; the same people assigned again does no harm`);
  if (seen.logins === null) return settledAs('refused', `#${number} is not there any more`);
  const goal = Array.isArray(snapshot?.['goal']) ? snapshot['goal'].map((login) => String(login).toLowerCase()) : null;
  const isSame =
    goal !== null && goal.length === seen.logins.length && goal.every((login) => seen.logins?.includes(login));
  return isSame
    ? done(`assignees of #${number}: ${goal.join(', ') || 'nobody'}`)
    : resend(`#${number} has other assignees`);
}
