import {
  notYet,
  refused,
  there,
  toWrite,
  unchanged,
  type ActionContext,
  type Decision,
  type Outcome,
} from '../define-action.js';
import { say } from '../reasons.js';
import type { JsonObject } from '../../core/json.js';
import type { Pull } from '../../core/objects/tracker.js';
import { textOf, type Reason } from '../../core/reason.js';
import { isRefused, type ForgeClient } from '../../forge/forge-client.js';
import { aheadOf, isTold, lacks, leavingText, ownUpdates, placeIn, type Noted } from './merge-place.js';
import {
  judge,
  readReviews,
  QUEUE_STATUS,
  statusesOf,
  type MergeWish,
  type Place,
  type SeenPull,
  type SeenQueue,
} from './merge-state.js';
import type { OpenCall } from './recovery.js';

/** Default of `checks_within`, in minutes. */
const CHECKS_WITHIN = 60;
const MINUTE_MS = 60_000;
/** Longest stay in the queue. */
const STAYS_DAYS = 3;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Whoever stands at the head of the queue looks as often: some forges tell of no status. */
const LOOK_MS = 30_000;

/** The one write of a look. */
export type Change =
  | {
      readonly does: 'merge';
      readonly head: string;
      readonly tested: { readonly noted: Noted; readonly tip: string } | null;
    }
  | { readonly does: 'update'; readonly noted: Noted }
  | { readonly does: 'show'; readonly head: string; readonly text: string; readonly then: Outcome }
  | { readonly does: 'tell'; readonly base: string; readonly because: Reason };

type QueueForge = Pick<ForgeClient, 'getBranch' | 'listReviews' | 'getCombinedStatus' | 'listTimeline'> &
  Partial<
    Pick<
      ForgeClient,
      'updatePullBranch' | 'listCommits' | 'getCommit' | 'createComment' | 'listComments' | 'createStatus'
    >
  >;

interface QueueLook extends Pick<
  ActionContext<'repository', never, never>,
  'isOurs' | 'mergesOwnApprovals' | 'noted' | 'now' | 'openBefore' | 'overtakenBy'
> {
  readonly forge: QueueForge;
  readonly place: Place;
  readonly call: OpenCall | null;
}

/** One read after the other, as far as the queue needs it. */
export async function lookInQueue(context: QueueLook, wanted: MergeWish, pull: Pull | null): Promise<SeenPull> {
  const { forge, place, call, now, isOurs } = context;
  const { number, sha: pinned } = wanted;
  const { listCommits, getCommit, listComments } = forge;
  const noted = placeIn(context.noted);
  let queue: SeenQueue = { now, noted, overtakenBy: context.overtakenBy };
  const [head, base] = [pull?.head?.sha, pull?.base?.ref];
  const tested = call?.snapshot?.['does'] === 'merge' ? call.snapshot : null;
  if (tested && pull?.merged === true && getCommit)
    queue = {
      ...queue,
      between: await mergedOn({ getCommit }, place, pull, { head: String(tested['head']), tip: String(tested['tip']) }),
    };
  if (call || !listCommits || !getCommit || !listComments || !forge.updatePullBranch || !forge.createStatus)
    return { pull, queue };
  let seen: SeenPull = { pull, queue };
  if (pull?.state === 'open' && head && base) {
    const tip = (await forge.getBranch({ ...place, branch: base })).commit?.id ?? '';
    queue = { ...queue, tip };
    const earlier = noted?.own ?? [];
    const reads = { listTimeline: forge.listTimeline, getCommit, listCommits };
    const own = await ownUpdates(reads, { place, number, head, pinned, earlier, tip, isOurs });
    const heads = own === null ? null : [pinned, ...(own === 'foreign' ? [] : own)];
    const { checks, placeText } = await statusesOf(forge, { ...place, ref: head });
    queue = { ...queue, placeText };
    seen = { pull, queue, heads };
    if (!judge(wanted, seen, null)) {
      seen = { ...seen, ...(await readReviews(context, wanted, heads ?? [])) };
      if (wanted.checks !== false && !judge(wanted, seen, null)) seen = { ...seen, checks };
    }
    if (isReady(judge(wanted, seen, null))) {
      const before = await context.openBefore();
      const [ahead, paused] = [false, true].map((isPaused) =>
        aheadOf(
          before.filter((one) => one.isPaused === isPaused),
          base,
          number,
        ),
      ) as [string[], string[]];
      const isBehind = ahead.length > 0 ? undefined : await lacks({ listCommits }, place, head, tip);
      queue = { ...queue, ahead, paused, ...(isBehind === undefined ? {} : { isBehind }) };
    }
  }
  seen = { ...seen, queue };
  const leaves = noted && leavesFor(wanted, seen, queue, noted);
  if (!leaves || pull === null) return seen;
  const comments = await listComments({ ...place, index: number });
  return { ...seen, queue: { ...queue, isTold: isTold(comments, pinned, noted) } };
}

/** Nothing but its checks is missing. */
function isReady(no: ReturnType<typeof judge>): boolean {
  return no === null || UNFINISHED.has(no.reason.code);
}

const UNFINISHED: ReadonlySet<string> = new Set(['cannot.merge.no-status', 'cannot.merge.checks']);
const RED: ReadonlySet<unknown> = new Set(['failure', 'error']);

/** Why one that has its place leaves the queue; null = it stays. Pure. */
function leavesFor(wanted: MergeWish, seen: SeenPull, queue: SeenQueue, noted: Noted): Reason | null {
  const { now, isBehind, overtakenBy } = queue;
  if (noted.leaving) return noted.leaving;
  if (overtakenBy) return say('queue.overtaken', { rule: overtakenBy.rule, action: overtakenBy.action });
  const no = judge(wanted, seen, null);
  if (no?.kind === 'refused') return no.reason;
  if (no?.reason.code === 'cannot.merge.label') return no.reason;
  if (no?.reason.code === 'cannot.merge.checks' && RED.has(seen.checks)) return no.reason;
  if (now !== null && now.getTime() - Date.parse(noted.entered) >= STAYS_DAYS * DAY_MS)
    return say('queue.stayed', { days: STAYS_DAYS, because: no?.reason ?? turnIn(queue, noted.base) });
  const within = wanted.checks_within ?? CHECKS_WITHIN;
  const isLate = now !== null && noted.since !== null && now.getTime() - Date.parse(noted.since) > within * MINUTE_MS;
  if (isLate && no?.reason.code === 'queue.head') return no.reason;
  return no && isLate && isBehind === false && UNFINISHED.has(no.reason.code)
    ? say('queue.no-checks', { sha: seen.pull?.head?.sha ?? '', minutes: within, state: seen.checks ?? null })
    : null;
}

function turnIn({ ahead = [], paused = [] }: SeenQueue, base: string): Reason {
  return say('queue.place', { place: ahead.length + 1, behind: ahead, base, ...(paused.length > 0 ? { paused } : {}) });
}

/** Pure. */
export function compareInQueue(
  wanted: MergeWish,
  seen: SeenPull,
  queue: SeenQueue,
  call: OpenCall | null,
): Decision<Change> {
  const { number } = wanted;
  const { pull, heads } = seen;
  const no = judge(wanted, seen, null);
  if (no?.kind === 'there') {
    // An update or a comment of ours merged nothing.
    if (call && call.snapshot?.['does'] !== 'merge') return unchanged(no.reason);
    return typeof queue.between === 'string' ? there(untested(number, pull, queue.between)) : no;
  }
  // Whatever became of the call, the next look goes on from what is there.
  if (call) return pull === null && no ? no : notYet(say('queue.looks', { number }));
  const { now, noted, ahead, isBehind, tip } = queue;
  if (pull?.state === 'open' && tip === undefined) return refused(say('cannot.queue.here'));
  const leaves = noted && leavesFor(wanted, seen, queue, noted);
  const showing = (then: Exclude<Outcome, { kind: 'changed' }>): Decision<Change> => {
    const text = textOf(then.reason);
    if (queue.placeText === undefined || queue.placeText === text) return then;
    const change = { does: 'show', head: pull?.head?.sha ?? '', text, then } as const;
    return toWrite<Change>(change, { remember: snapshotOf(change, seen) });
  };
  if (leaves && noted) {
    const reason = say('queue.left', { base: noted.base, because: leaves });
    if (typeof queue.placeText === 'string' && queue.placeText !== textOf(reason) && queue.isTold === false)
      return showing(notYet(reason, noteOf({ ...noted, leaving: leaves }), 0));
    const change = { does: 'tell', base: noted.base, because: leaves } as const;
    return queue.isTold === false ? toWrite(change, { remember: snapshotOf(change, seen) }) : refused(reason);
  }
  const head = pull?.head?.sha ?? '';
  const place: Noted = {
    base: pull?.base?.ref ?? '',
    entered: noted?.entered ?? now?.toISOString() ?? '',
    isReady: true,
    own: heads?.slice(1) ?? noted?.own ?? [],
    since: null,
    leaving: null,
  };
  if (heads === null) return notYet(say('queue.head', { number }), noted ? noteOf(noted) : {}, LOOK_MS);
  if (!isReady(no) || (no && !noted && RED.has(seen.checks)))
    // It lets others pass while people have to do something.
    return no && no.kind === 'not-yet' && noted
      ? showing(notYet(no.reason, noteOf({ ...place, isReady: false })))
      : (no as Decision<never>);
  const turn = turnIn(queue, place.base);
  // It takes its place before its first call: those behind it wait, whatever becomes of that.
  if (!noted) return notYet(turn, noteOf(place), 0);
  if (ahead === undefined || ahead.length > 0) return showing(notYet(turn, noteOf(place)));
  if (isBehind !== false) {
    const change = { does: 'update', noted: { ...place, since: now?.toISOString() ?? null } } as const;
    return toWrite<Change>(change, { remember: snapshotOf(change, seen) });
  }
  const since = noted?.since ?? now?.toISOString() ?? null;
  if (no)
    return showing(
      notYet(say('queue.checks', { sha: head, state: seen.checks ?? null }), noteOf({ ...place, since }), LOOK_MS),
    );
  const change = { does: 'merge', head, tested: { noted: { ...place, since }, tip: tip ?? '' } } as const;
  return toWrite<Change>(change, { remember: { ...snapshotOf(change, seen), tip: tip ?? null } });
}

/** What a call is stored with. */
export function snapshotOf({ does }: Change, { pull, plans }: SeenPull): JsonObject {
  const { head, base } = pull ?? {};
  const ids = plans && { ids: [...plans.ids] };
  return { does, head: head?.sha ?? null, base: base?.ref ?? null, branch: head?.ref ?? null, ...ids };
}

/**
 * What stands between the commit of the target that was tested and the merge: its first parent; null = nothing does. A rebase has commits of its own there, and
 * what is merged is what was tested as long as their contents are equal.
 */
export async function mergedOn(
  { getCommit }: Pick<ForgeClient, 'getCommit'>,
  place: Place,
  { merge_commit_sha: merge }: Pull,
  { head, tip }: { readonly head: string; readonly tip: string },
): Promise<string | null> {
  const read = (sha: string) => getCommit({ ...place, sha, stat: false });
  const made = await read(merge ?? '');
  const [first] = made.parents ?? [];
  if (first?.sha === tip) return null;
  const [is, was] = [made.commit?.tree?.sha, (await read(head)).commit?.tree?.sha];
  return is && is === was ? null : (first?.sha ?? merge ?? '');
}

/** It is merged, and something else was merged or pushed between the last look and the merge. */
export function untested(number: string, pull: Pull | null, between: string): Reason {
  return say('made.merged-untested', { number, base: pull?.base?.ref ?? '', sha: between });
}

/** What is kept with the intent for its next look. */
export function noteOf(noted: Noted): JsonObject {
  return { ...noted } as unknown as JsonObject;
}

/** A call told that it cannot go on: the next look says why, in a comment. */
export function leavesNext(noted: Noted, leaving: Reason): Outcome {
  return notYet(leaving, noteOf({ ...noted, leaving }), 0);
}

/** The writes that are steps on the way. */
export async function writeInQueue(
  { updatePullBranch, createComment, createStatus }: QueueForge,
  where: Place & { readonly index: string },
  { number, sha: pinned }: MergeWish,
  change: Exclude<Change, { does: 'merge' }>,
): Promise<Outcome> {
  if (change.does === 'tell') {
    const { base, because } = change;
    await createComment?.({ ...where, body: { body: leavingText(pinned, base, because) } });
    return refused(say('queue.left', { base, because }));
  }
  if (change.does === 'show') {
    const { owner, repo } = where;
    const body = { context: QUEUE_STATUS, state: 'success', description: change.text } as const;
    await createStatus?.({ owner, repo, sha: change.head, body });
    return change.then;
  }
  try {
    await updatePullBranch?.({ ...where, style: 'merge' });
  } catch (error) {
    if (isRefused(error, 409)) return leavesNext(change.noted, say('cannot.update.conflict', { number }));
    if (isRefused(error, 403)) return leavesNext(change.noted, say('cannot.update.denied', { number }));
    throw error;
  }
  return notYet(say('queue.updated', { number }), noteOf(change.noted), LOOK_MS);
}
