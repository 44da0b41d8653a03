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

export interface SeenRequests {
  /** Logins and team names that are asked, in lower case; null = it is gone. */
  readonly asked: readonly string[] | null;
}

/** Who is asked for a review can be read, and asking twice leaves one request. */
export const requestReviewRecovery = defineRecovery<{ readonly number: string }, SeenRequests>({
  reads: ['getPull'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { number }) {
    const pull = await whereOffered(forge.getPull, (get) => orMissing(get({ ...placeOf(target), index: number })));
    if (pull === undefined) return null;
    if (pull === null) return { asked: null };
    const names = [
      ...(pull.requested_reviewers ?? []).map(({ login }) => login ?? ''),
      ...(pull.requested_reviewers_teams ?? []).map(({ name }) => name ?? ''),
    ];
    return { asked: names.map((name) => name.toLowerCase()) };
  },

  decide: decideRequests,
});

export function decideRequests({
  wanted: { number },
  snapshot,
  seen,
}: RecoveryFacts<{ readonly number: string }, SeenRequests>): Verdict {
  if (seen === null) return resend(`#${number} cannot be read; asking the same people twice does no harm`);
  if (seen.asked === null) return settledAs('refused', `pull request #${number} is not there any more`);
  const goal = Array.isArray(snapshot?.['goal']) ? snapshot['goal'].map((name) => String(name).toLowerCase()) : null;
  return goal?.every((name) => seen.asked?.includes(name))
    ? done(`${goal.join(', ')} asked to review #${number}`)
    : resend(`not all of them are asked to review #${number}`);
}
