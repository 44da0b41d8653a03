import {
  defineAction,
  textOf,
  changed,
  conflict,
  notYet,
  refused,
  there,
  toWrite,
  unchanged,
  undone,
} from './define-action.js';
import type { Decision } from './define-action.js';
import { say } from './reasons.js';
import { choice, commitId, flag, id, optional, type ParamsOf, text, whole, referring } from './support/params.js';
import { readAll, isRefused, orMissing, type ForgeClient } from '../forge/forge-client.js';
import { idsIn, type OpenCall, type SentEffect } from './support/recovery.js';
import { plansIn, type SeenPlans } from './support/planned-merge.js';
import { isAbout } from './support/compare.js';
import { valueOf } from './support/unfit.js';
import { ifNamed, issue, label } from './support/objects.js';
import { ForgeError } from '../core/errors.js';
import type { ForgeEvent } from '../core/event.js';
import { isJsonObject } from '../core/json.js';
import type { Pull, Review } from '../core/objects/tracker.js';
import { isSameName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';
import { newestVerdicts } from '../forge/newest-verdicts.js';

/** With the waits between them, about twenty seconds; a check takes a few. */
const CALLS_WHILE_CHECKED = 3;

/** What a protected branch asks beyond the rule, as Gitea says it; Forgejo puts it behind `reason:`. */
const PROTECTION_ASKS =
  /required status checks|enough approvals|requested changes|official review requests|behind the base branch/i;

const METHODS = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;

const params = {
  number: id('number of the pull request'),
  sha: commitId('head commit that may be merged'),
  method: optional(choice('merge (default), rebase, rebase-merge, squash or fast-forward-only', { words: METHODS })),
  label: referring('label', optional(text('label that it must have'))),
  approvals: optional(whole('approvals of this commit by people other than its author. Default: 1', { max: 20 })),
  checks: optional(
    flag(
      'whether the statuses of the commit must be green; by the forge: whether the base must require some. Default: true',
    ),
  ),
  delete_branch: optional(flag('delete its branch after the merge')),
  by: optional(
    choice('bot (default), or forge: its own automatic merge is planned, and made once the required checks succeed', {
      words: ['bot', 'forge'],
    }),
  ),
};

interface SeenPull {
  /** Null = there is none. */
  readonly pull: Pull | null;
  /** Undefined = not asked for: what was read before already speaks against the merge. */
  readonly reviews?: readonly Review[];
  /** The bot itself approved this commit, and the operator does not allow it to merge what it approved. */
  readonly isApprovedByUs?: boolean;
  /** As `stateOfChecks`; undefined = not asked for. */
  readonly checks?: string | null;
  /** Where the forge is to merge: its plans; undefined = not asked for. */
  readonly plans?: SeenPlans;
  /** Where the forge is to merge: whether the base waits for statuses; undefined = not asked for. */
  readonly requiresChecks?: boolean;
}

/**
 * All that speaks for the merge is read again right before it, about the one commit that the rule saw; the forge gets that commit too. The
 * forge says 405 "try again later" both while its conflict check runs and when the branches conflict. `mergeable` is false in both cases for
 * some seconds, so it is believed only when it still says so after several calls.
 *
 * Approvals, checks and the label may come in any order: what is missing is waited for, as long as the head stays.
 *
 * With `by: forge` the call plans the forge's own automatic merge, and the effect is the plan, which only the timeline shows. Servers keep no commit with a
 * plan: what is pushed later is merged too. Where the base requires no checks they wait for none (Gitea merges at once), so that is refused unless the rule says `checks: false`.
 */
export const mergePullRequest = defineAction({
  name: 'pull_request.merge',
  summary: 'Merge a pull request once it is labelled, approved and green, at exactly this commit',
  target: 'repository',
  params,
  operations: ['mergePull', 'getPull', 'listReviews', 'getCombinedStatus', 'listTimeline', 'getBranch'],
  whereOffered: [],
  right: RIGHTS.code,
  asksAct: true,
  naturalKey: 'number',
  keyOf: ({ number }) => textOf(number),
  object: ({ number }) => issue(number),
  names: ({ label: wanted }) => ifNamed(wanted, label),
  // What was taken back meanwhile (pull_request.unqueue) is not merged by an older wish.
  overwrites: true,
  raises: ['pull_request.merged', 'push', 'branch.deleted'],
  awaits: [
    'status.set',
    'workflow.finished',
    'workflow.recovered',
    'task.finished',
    'push',
    'review.approved',
    'review.rejected',
    'review.commented',
    'review.dismissed',
    'pull_request.labeled',
    'pull_request.synchronized',
    'pull_request.ready_for_review',
    'pull_request.closed',
    'pull_request.merged',
  ],
  effect: {
    mayRaise: (kind, inputs) =>
      kind !== 'branch.deleted' ||
      (inputs['delete_branch'] !== undefined && valueOf(inputs, 'delete_branch') !== false),
    // The commits of a rebase name neither the pull request nor its head.
    isKnown: (kind, inputs) => kind !== 'push' || valueOf(inputs, 'method') !== 'rebase',
  },
  example: { number: '12', sha: '0123456789abcdef0123456789abcdef01234567', label: 'merge/ready', approvals: 1 },
  about: ({ number }) => ({ what: 'pull request', number }),

  /** One read after the other, as long as nothing speaks against it. */
  async look({ forge, place, call, isOurs, lastMade, mergesOwnApprovals }, wanted): Promise<SeenPull> {
    const where = { ...place, index: wanted.number };
    const pull = await orMissing(forge.getPull(where));
    const plans =
      wanted.by === 'forge' && pull?.state === 'open'
        ? plansIn(await readAll(forge, 'listTimeline', where))
        : undefined;
    const isUndone = plans?.takenBackBy && isOurs(plans.takenBackBy) !== true && (await lastMade()) !== null;
    const basis = { pull, ...(plans && { plans: { ...plans, isUndone: isUndone === true } }) };
    if (call || judge(wanted, basis, call)) return basis;
    const reviews = await readAll(forge, 'listReviews', where);
    const isOurApproval = ({ user, state, dismissed, commit_id: commit }: Review): boolean =>
      state === 'APPROVED' &&
      dismissed !== true &&
      (!commit || commit === wanted.sha) &&
      isOurs({ id: user?.id ?? '', login: user?.login ?? '' }) === true;
    const seen = { ...basis, reviews, isApprovedByUs: !mergesOwnApprovals && reviews.some(isOurApproval) };
    if (wanted.checks === false || judge(wanted, seen, call)) return seen;
    if (wanted.by === 'forge') {
      const base = await forge.getBranch({ ...place, branch: pull?.base?.ref ?? '' });
      return { ...seen, requiresChecks: base.enable_status_check === true };
    }
    return { ...seen, checks: await stateOfChecks(forge, { ...place, ref: wanted.sha }) };
  },

  compare({ wanted, seen, call }) {
    const { head, base } = seen.pull ?? {};
    const ids = seen.plans && { ids: [...seen.plans.ids] };
    const remember = { head: wanted.sha, base: base?.ref ?? null, branch: head?.ref ?? null, ...ids };
    return judge(wanted, seen, call) ?? toWrite(null, { remember });
  },

  async write({ forge, place, earlierCalls }, { number, sha, method = 'merge', delete_branch: deleteBranch, by }) {
    const where = { ...place, index: number };
    const after = {
      ...(deleteBranch === undefined ? {} : { delete_branch_after_merge: deleteBranch }),
      ...(by === 'forge' ? { merge_when_checks_succeed: true } : {}),
    };
    try {
      await forge.mergePull({ ...where, body: { do: method, head_commit_id: sha, ...after } });
    } catch (error) {
      // The first plan stays, with its method.
      if (by === 'forge' && isRefused(error, 409)) return unchanged(say('found.planned', { number }));
      if (isRefused(error, 409)) return conflict(say('cannot.merge.conflict', { number }));
      if (!isRefused(error, 405)) throw error;
      const { forgeMessage = '' } = error.facts;
      if (PROTECTION_ASKS.test(forgeMessage))
        return notYet(say('cannot.merge.protected', { number, said: forgeMessage }));
      if (!/try again later/i.test(forgeMessage)) throw error;
      const now = await forge.getPull(where);
      if (now.merged === true) return unchanged(say('found.state', { what: 'pull request', number, state: 'merged' }));
      if (now.mergeable === false && earlierCalls >= CALLS_WHILE_CHECKED)
        return conflict(say('cannot.merge.conflict', { number }));
      throw new ForgeError('not-sent', say('cannot.merge.checking', { number }), {
        operation: 'mergePull',
        status: 405,
        detail: 'checking',
      });
    }
    const made = { number, method, sha };
    return changed(by === 'forge' ? say('made.planned', made) : say('made.merged', made));
  },

  recover: {
    matcher: {
      echoes: ['pull_request.merged', 'push', 'branch.deleted'],
      isEcho: (event, sent) => {
        if (event.kind === 'pull_request.merged') return isAbout(event.data, sent.params);
        if (event.kind === 'push') return isPushOfMerge(event, sent);
        return sent.params['delete_branch'] === true && event.data['branch'] === (sent.snapshot?.['branch'] ?? null);
      },
    },
  },
});

/** What speaks against the merge, by what was read of it so far; null = nothing. */
function judge(
  { number, sha, label, approvals = 1 }: ParamsOf<typeof params>,
  { pull, plans, reviews, isApprovedByUs, checks, requiresChecks }: SeenPull,
  call: OpenCall | null,
): Decision<never> | null {
  if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
  const about = { what: 'pull request', number };
  if (pull.merged === true) return there(say('found.state', { ...about, state: 'merged' }));
  if (pull.state !== 'open') return refused(say('found.state', { ...about, state: 'closed' }));
  const planned = plans && judgePlans(number, plans, call);
  if (planned) return planned;
  if (pull.head?.sha !== sha) return refused(say('cannot.merge.head', { number, sha: pull.head?.sha ?? 'nothing' }));
  if (pull.draft === true) return notYet(say('found.state', { ...about, state: 'a draft' }));
  if (label !== undefined && !pull.labels?.some(({ name }) => isSameName(name, label)))
    return notYet(say('cannot.merge.label', { number, label }));
  if (reviews === undefined) return null;
  // Left uncounted here, it would still count for the protection of the branch.
  if (isApprovedByUs) return refused(say('cannot.merge.own-approval', { number }));
  const { approvedBy, rejectedBy } = verdictsOf(reviews, sha, pull.user?.login);
  if (rejectedBy.length > 0) return notYet(say('cannot.merge.rejected', { number, people: rejectedBy }));
  if (approvedBy.length < approvals)
    return notYet(say('cannot.merge.approvals', { number, count: approvedBy.length, needs: approvals, sha }));
  if (requiresChecks === false)
    return refused(say('cannot.merge.no-required-checks', { number, base: pull.base?.ref ?? '' }));
  if (checks === null) return notYet(say('cannot.merge.no-status', { sha }));
  return checks === undefined || checks === 'success'
    ? null
    : notYet(say('cannot.merge.checks', { sha, state: checks }));
}

/** What the plans that the forge has say; null = one may be made. A plan that came since an open call is that of the call, whatever became of it. */
function judgePlans(
  number: string,
  { ids, isOpen, isUndone }: SeenPlans,
  call: OpenCall | null,
): Decision<never> | null {
  const sinceCall = ids.filter((id) => call && !idsIn(call.snapshot).has(id));
  if (sinceCall.length > 0 || isOpen) return there(say('found.planned', { number }), { ids: sinceCall });
  return isUndone && !call ? undone(say('found.plan-taken-back', { number })) : null;
}

/** It brings the head that was wanted, or its last commit names the pull request as forges write it. A rebase writes neither. */
function isPushOfMerge({ data }: ForgeEvent, { params, snapshot }: SentEffect): boolean {
  const base = snapshot?.['base'] ?? null;
  if (typeof data['branch'] !== 'string' || (base !== null && data['branch'] !== base)) return false;
  const commits = [data['head_commit'], ...(Array.isArray(data['commits']) ? data['commits'] : [])]
    .map((commit) => commit ?? null)
    .filter(isJsonObject);
  if (data['after'] === params['sha'] || commits.some((commit) => commit['id'] === params['sha'])) return true;
  const [title = ''] = textOf(commits[0]?.['message']).split('\n');
  const number = (/^Merge pull request '.*' \(#(\d+)\) from /.exec(title) ?? /\(#(\d+)\)$/.exec(title))?.[1];
  return number !== undefined && number === textOf(params['number']);
}

/**
 * What the newest statuses of a commit come to; null where it has none, which Gitea calls pending too. Servers judge the statuses of one page:
 * those of further pages are read where there are more.
 */
async function stateOfChecks(
  forge: Pick<ForgeClient, 'getCombinedStatus'>,
  where: { readonly owner: string; readonly repo: string; readonly ref: string },
): Promise<string | null> {
  let total: number | null = null;
  const {
    state,
    statuses,
    total_count: count,
  } = await forge.getCombinedStatus(
    { ...where, limit: 50 },
    { onReply: ({ totalCount }) => void (total = totalCount) },
  );
  if (!state || statuses?.length === 0 || (!statuses && Number(count ?? 1) === 0)) return null;
  if (state !== 'success' || statuses === undefined || total === null || total <= statuses.length) return state;
  const all = await readAll(forge, 'getCombinedStatus', where);
  return all.find(({ status }) => status !== 'success' && status !== 'skipped')?.status ?? state;
}

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
