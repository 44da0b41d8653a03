import { defineAction, textOf, changed, conflict, refused, unchanged } from './define-action.js';
import { choice, flag, id, optional, text, whole } from './support/params.js';
import { readAll, isRefused, orMissing, whereOffered } from '../forge/forge-client.js';
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
import { ForgeError } from '../core/errors.js';
import type { Review } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';
import { newestVerdicts } from '../forge/newest-verdicts.js';

/** With the waits between them, about twenty seconds; a check takes a few. */
const CALLS_WHILE_CHECKED = 3;

const METHODS = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;

interface WantedMerge {
  readonly number: string;
  readonly sha: string;
}

interface SeenPull {
  readonly there: boolean;
  readonly merged: boolean;
  readonly state: string;
  readonly head: string;
}

/** A pull request is merged once: whether it is can be read, and the head is pinned. */
const mergeRecovery = defineRecovery<WantedMerge, SeenPull>({
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

/**
 * All that speaks for the merge is read again right before it, about the one commit that the rule saw; the forge gets that commit too. The
 * forge says 405 "try again later" both while its conflict check runs and when the branches conflict. `mergeable` is false in both cases for
 * some seconds, so it is believed only when it still says so after several calls.
 */
export const mergePullRequest = defineAction({
  name: 'pull_request.merge',
  summary: 'Merge a pull request that is labelled, approved and green, at exactly this commit',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the pull request' }),
    sha: text({
      summary: 'head commit that may be merged',
      check: (sha) => (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha) ? null : 'must be a whole commit id'),
    }),
    method: optional(
      choice({ summary: 'merge (default), rebase, rebase-merge, squash or fast-forward-only', words: METHODS }),
    ),
    label: optional(text({ summary: 'label that it must have' })),
    approvals: optional(
      whole({ summary: 'approvals of this commit by people other than its author. Default: 1', max: 20 }),
    ),
    checks: optional(flag({ summary: 'whether the statuses of the commit must be green. Default: true' })),
    delete_branch: optional(flag({ summary: 'delete its branch after the merge' })),
  },
  operations: ['mergePull', 'getPull', 'listReviews', 'getCombinedStatus'],
  whereOffered: [],
  right: RIGHTS.code,
  asksAct: true,
  naturalKey: 'number',
  keyOf: ({ number }) => textOf(number),
  raises: ['pull_request.merged', 'push'],
  example: { number: '12', sha: '0123456789abcdef0123456789abcdef01234567', label: 'merge/ready', approvals: 1 },

  recover: mergeRecovery,

  async ensure(
    { target, forge, remember, earlierCalls },
    { number, sha, method = 'merge', label, approvals = 1, checks = true, delete_branch: deleteBranch },
  ) {
    const where = { owner: target.owner, repo: target.name, index: number };
    const pull = await orMissing(forge.getPull(where));
    if (pull === null) return refused(`there is no pull request #${number}`);
    if (pull.merged === true) return unchanged(`pull request #${number} is merged`);
    if (pull.state !== 'open') return refused(`pull request #${number} is closed`);
    if (pull.head?.sha !== sha)
      return refused(`the head of #${number} moved to ${pull.head?.sha?.slice(0, 10) ?? 'nothing'}`);
    if (pull.draft === true) return refused(`pull request #${number} is a draft`);
    if (label !== undefined && !pull.labels?.some(({ name }) => name === label))
      return refused(`pull request #${number} does not bear the label ${label}`);
    const { approvedBy, rejectedBy } = verdictsOf(await readAll(forge, 'listReviews', where), sha, pull.user?.login);
    if (rejectedBy.length > 0) return refused(`${rejectedBy.join(', ')} asked for changes of #${number}`);
    if (approvedBy.length < approvals)
      return refused(`#${number} has ${approvedBy.length} of ${approvals} approvals of ${sha.slice(0, 10)}`);
    if (checks) {
      const { state } = await forge.getCombinedStatus({ owner: target.owner, repo: target.name, ref: sha });
      if (state !== 'success') return refused(`the statuses of ${sha.slice(0, 10)} are ${state ? state : 'not there'}`);
    }
    remember({ head: sha });
    try {
      await forge.mergePull({
        ...where,
        body: {
          do: method,
          head_commit_id: sha,
          ...(deleteBranch === undefined ? {} : { delete_branch_after_merge: deleteBranch }),
        },
      });
    } catch (error) {
      if (isRefused(error, 409)) return conflict(`#${number} could not be merged: it conflicts, or its head moved`);
      if (!isRefused(error, 405) || !/try again later/i.test(error.facts.forgeMessage ?? error.message)) throw error;
      const now = await forge.getPull(where);
      if (now.merged === true) return unchanged(`pull request #${number} is merged`);
      if (now.mergeable === false && earlierCalls >= CALLS_WHILE_CHECKED)
        return conflict(`the branches of #${number} conflict`);
      throw new ForgeError('not-sent', `the conflict check of #${number} still runs`, {
        operation: 'mergePull',
        status: 405,
        detail: 'checking',
      });
    }
    return changed(`pull request #${number} merged (${method}) at ${sha.slice(0, 10)}`);
  },
});

/** Who approved this very commit, and who wants changes, each by their newest verdict; the author's own does not count. */
function verdictsOf(
  reviews: readonly Review[],
  sha: string,
  author: string | null | undefined,
): { approvedBy: string[]; rejectedBy: string[] } {
  const all = newestVerdicts(reviews, author);
  const isOfThis = (review: Review): boolean =>
    review.stale !== true && (!review.commit_id || review.commit_id === sha);
  return {
    approvedBy: all
      .filter((review) => review.state === 'APPROVED' && review.official !== false && isOfThis(review))
      .map(({ user }) => user?.login ?? ''),
    rejectedBy: all.filter(({ state }) => state === 'REQUEST_CHANGES').map(({ user }) => user?.login ?? ''),
  };
}
