import {
  notYet,
  refused,
  there,
  undone,
  type ActionContext,
  type Decision,
  type OvertakingWish,
} from '../define-action.js';
import { say } from '../reasons.js';
import type { ForgeEvent } from '../../core/event.js';
import { isJsonObject } from '../../core/json.js';
import type { Pull, Review } from '../../core/objects/tracker.js';
import { isSameName } from '../../core/object-name.js';
import { readAll, type ForgeClient } from '../../forge/forge-client.js';
import { newestVerdicts } from '../../forge/newest-verdicts.js';
import type { Noted } from './merge-place.js';
import type { SeenPlans } from './planned-merge.js';
import { idsIn, type OpenCall } from './recovery.js';

/** What a rule wants merged; as the parameters of `pull_request.merge`. */
export interface MergeWish {
  readonly number: string;
  readonly sha: string;
  readonly label?: string | undefined;
  readonly approvals?: number | undefined;
  readonly checks?: boolean | undefined;
  readonly checks_within?: number | undefined;
}

export interface Place {
  readonly owner: string;
  readonly repo: string;
}

interface Looking extends Pick<ActionContext<'repository', never, never>, 'isOurs' | 'mergesOwnApprovals'> {
  readonly forge: Pick<ForgeClient, 'listReviews'>;
  readonly place: Place;
}

export interface SeenPull {
  /** Null = there is none. */
  readonly pull: Pull | null;
  /** Undefined = not asked for: what was read before already speaks against the merge. */
  readonly reviews?: readonly Review[];
  /** The bot itself approved this commit, and the operator does not allow it to merge what it approved. */
  readonly isApprovedByUs?: boolean;
  /** As in `statusesOf`; undefined = not asked for. */
  readonly checks?: string | null;
  /** Where the forge is to merge: its plans; undefined = not asked for. */
  readonly plans?: SeenPlans;
  /** Where the forge is to merge: whether the base waits for statuses; undefined = not asked for. */
  readonly requiresChecks?: boolean;
  /** Commits whose approvals count, the pinned one first; the head must be one of them. Absent = the pinned one alone; null = the forge does not tell yet. */
  readonly heads?: readonly string[] | null;
  readonly queue?: SeenQueue;
}

/** What a pull request in a merge queue is asked besides. */
export interface SeenQueue {
  /** Null after a lost answer. */
  readonly now: Date | null;
  /** Null = it has no place yet. */
  readonly noted: Noted | null;
  /** As `ActionContext.overtakenBy`. */
  readonly overtakenBy?: OvertakingWish | null;
  /** Numbers of the pull requests before it; undefined = not asked for. */
  readonly ahead?: readonly string[];
  /** Those that would stand before it and are paused: they let it pass. */
  readonly paused?: readonly string[];
  /** Whether the target has commits that the head has not; undefined = not asked for. */
  readonly isBehind?: boolean;
  /** Commit of the target branch; undefined = not asked for. */
  readonly tip?: string;
  /** People were told why it goes; undefined = not asked for. */
  readonly isTold?: boolean;
  /** After a lost answer: what came between what was tested and the merge; null = nothing. Undefined = not asked for. */
  readonly between?: string | null;
  /** Place that the head shows in its status; null = none. Undefined = not asked for. */
  readonly placeText?: string | null;
}

export type NoMerge = Exclude<Decision<never>, { kind: 'write' | 'person' }>;

/** @param heads commits whose approvals count */
export async function readReviews(
  { forge, place, isOurs, mergesOwnApprovals }: Looking,
  { number, sha }: MergeWish,
  heads: readonly string[] = [sha],
): Promise<Pick<SeenPull, 'reviews' | 'isApprovedByUs'>> {
  const reviews = await readAll(forge, 'listReviews', { ...place, index: number });
  const isOurApproval = ({ user, state, dismissed, commit_id: commit }: Review): boolean =>
    state === 'APPROVED' &&
    dismissed !== true &&
    (!commit || heads.includes(commit)) &&
    isOurs({ id: user?.id ?? '', login: user?.login ?? '' }) === true;
  return { reviews, isApprovedByUs: !mergesOwnApprovals && reviews.some(isOurApproval) };
}

/** What speaks against the merge, by what was read of it so far; null = nothing. */
export function judge(
  { number, sha, label, approvals = 1 }: MergeWish,
  { pull, plans, reviews, isApprovedByUs, checks, requiresChecks, heads = [sha] }: SeenPull,
  call: OpenCall | null,
): NoMerge | null {
  if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
  const about = { what: 'pull request', number };
  if (pull.merged === true) return there(say('found.state', { ...about, state: 'merged' }));
  if (pull.state !== 'open') return refused(say('found.state', { ...about, state: 'closed' }));
  const planned = plans && judgePlans(number, plans, call);
  if (planned) return planned;
  if (heads === null) return notYet(say('queue.head', { number }));
  const head = pull.head?.sha ?? 'nothing';
  if (!heads.includes(head)) return refused(say('cannot.merge.head', { number, sha: head }));
  if (pull.draft === true) return notYet(say('found.state', { ...about, state: 'a draft' }));
  if (label !== undefined && !pull.labels?.some(({ name }) => isSameName(name, label)))
    return notYet(say('cannot.merge.label', { number, label }));
  if (reviews === undefined) return null;
  // Left uncounted here, it would still count for the protection of the branch.
  if (isApprovedByUs) return refused(say('cannot.merge.own-approval', { number }));
  const { approvedBy, rejectedBy } = verdictsOf(reviews, heads, pull.user?.login);
  if (rejectedBy.length > 0) return notYet(say('cannot.merge.rejected', { number, people: rejectedBy }));
  if (approvedBy.length < approvals)
    return notYet(say('cannot.merge.approvals', { number, count: approvedBy.length, needs: approvals, sha: head }));
  if (requiresChecks === false)
    return refused(say('cannot.merge.no-required-checks', { number, base: pull.base?.ref ?? '' }));
  if (checks === null) return notYet(say('cannot.merge.no-status', { sha: head }));
  return checks === undefined || checks === 'success'
    ? null
    : notYet(say('cannot.merge.checks', { sha: head, state: checks }));
}

/** What the plans that the forge has say; null = one may be made. A plan that came since an open call is that of the call, whatever became of it. */
function judgePlans(number: string, { ids, isOpen, isUndone }: SeenPlans, call: OpenCall | null): NoMerge | null {
  const sinceCall = ids.filter((id) => call && !idsIn(call.snapshot).has(id));
  if (sinceCall.length > 0 || isOpen) return there(say('found.planned', { number }), { ids: sinceCall });
  return isUndone && !call ? undone(say('found.plan-taken-back', { number })) : null;
}

/** Context of the status that shows the place in a merge queue. It is always `success`, and never a check. */
export const QUEUE_STATUS = 'forgehand/queue';

/** The event tells that such a status was set. */
export function isQueueStatus({ kind, data }: Pick<ForgeEvent, 'kind' | 'data'>): boolean {
  const status = data['status'];
  return kind === 'status.set' && isJsonObject(status) && status['context'] === QUEUE_STATUS;
}

interface Statuses {
  /** What the newest statuses of a commit come to, but for that of the merge queue; null where it has none, which Gitea calls pending too. */
  readonly checks: string | null;
  /** Description of the status of the merge queue; null = there is none. */
  readonly placeText: string | null;
}

/** Servers judge the statuses of one page: those of further pages are read where there are more. */
export async function statusesOf(
  forge: Pick<ForgeClient, 'getCombinedStatus'>,
  where: Place & { readonly ref: string },
): Promise<Statuses> {
  let total: number | null = null;
  const {
    state,
    statuses: first,
    total_count: count,
  } = await forge.getCombinedStatus(
    { ...where, limit: 50 },
    { onReply: ({ totalCount }) => void (total = totalCount) },
  );
  if (!state || first?.length === 0 || (!first && Number(count ?? 1) === 0)) return { checks: null, placeText: null };
  if (first === undefined) return { checks: state, placeText: null };
  const isWhole = total === null || total <= first.length;
  const isOfQueue = ({ context }: { readonly context?: string | null | undefined }): boolean =>
    context === QUEUE_STATUS;
  const own = first.find(isOfQueue);
  if (isWhole && !own) return { checks: state, placeText: null };
  const all = isWhole ? first : await readAll(forge, 'getCombinedStatus', where);
  const placeText = all.find(isOfQueue)?.description ?? null;
  const words = all.filter((one) => !isOfQueue(one)).map(({ status }) => status ?? '');
  if (words.length === 0) return { checks: null, placeText };
  if (state !== 'success') return { checks: state, placeText };
  // Without the success of our own, a commit whose checks were all skipped is none that succeeded.
  if (own && words.every((word) => word === 'skipped')) return { checks: 'skipped', placeText };
  return { checks: words.find((word) => word !== 'success' && word !== 'skipped') ?? state, placeText };
}

/** Who approved one of these very commits, and who wants changes, each by their newest verdict; the author's own does not count. */
function verdictsOf(
  reviews: readonly Review[],
  heads: readonly string[],
  author: string | null | undefined,
): { approvedBy: string[]; rejectedBy: string[] } {
  const all = newestVerdicts(reviews, author);
  const isOfThis = (review: Review): boolean =>
    review.stale !== true && (!review.commit_id || heads.includes(review.commit_id));
  return {
    approvedBy: all
      .filter((review) => review.state === 'APPROVED' && review.official !== false && isOfThis(review))
      .map(({ user }) => user?.login ?? ''),
    rejectedBy: all.filter(({ state }) => state === 'REQUEST_CHANGES').map(({ user }) => user?.login ?? ''),
  };
}
