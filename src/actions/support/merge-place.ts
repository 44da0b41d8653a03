import type { ActionContext, OpenWish } from '../define-action.js';
import { escapeMarkdown } from '../../core/escape-markdown.js';
import { hashOf } from '../../core/ids.js';
import { isJsonObject, parseJson, type JsonObject } from '../../core/json.js';
import type { Comment, TimelineEntry } from '../../core/objects/tracker.js';
import { isReason, textOf, type Reason } from '../../core/reason.js';
import { readAll, type ForgeClient } from '../../forge/forge-client.js';

/**
 * A merge queue: `pull_request.merge` with `update: true`, one a target branch, in the order of planning. Its state is what its intents noted; all else is
 * read from the forge at each look.
 */

/** What an intent of the queue knows of itself. */
export interface Noted {
  /** Branch that it is queued for. */
  readonly base: string;
  /** When it took its place. */
  readonly entered: string;
  /** Nothing but its turn and its checks is missing: others wait behind it. */
  readonly isReady: boolean;
  /** Commits that are the bot's own updates of the pinned head, oldest first. */
  readonly own: readonly string[];
  /** Since when it waits for its checks at the head of the queue; null = it does not. */
  readonly since: string | null;
  /** Why it goes, where a call of ours told that; null = no such thing. */
  readonly leaving: Reason | null;
}

/** Null = it has no place in a queue. */
export function placeIn(noted: JsonObject): Noted | null {
  const { base, entered, since, own, leaving } = noted;
  if (typeof base !== 'string' || typeof entered !== 'string') return null;
  return {
    base,
    entered,
    isReady: noted['isReady'] === true,
    own: Array.isArray(own) ? own.map(String) : [],
    since: typeof since === 'string' ? since : null,
    leaving: isReason(leaving) ? leaving : null,
  };
}

/** Numbers of the pull requests that stand before this one in the queue of a branch. Pure. */
export function aheadOf(before: readonly OpenWish[], base: string, number: string): string[] {
  const numbers = before.flatMap(({ params, noted }) => {
    const place = placeIn(noted);
    return place?.isReady === true && place.base === base ? [String(params['number'])] : [];
  });
  return [...new Set(numbers)].filter((one) => one !== number);
}

interface Head {
  readonly place: { readonly owner: string; readonly repo: string };
  readonly number: string;
  readonly head: string;
  readonly pinned: string;
  /** Own updates that an earlier look found, oldest first. */
  readonly earlier: readonly string[];
  /** Commit of the target branch. */
  readonly tip: string;
  readonly isOurs: ActionContext<'repository', never, never>['isOurs'];
}

/** A longer chain of own updates than any look finds. */
const MOST_UPDATES = 20;

/**
 * Whether the head is an own update of the pinned commit, perhaps the last of several in a row. Such a commit was pushed by the bot's account, and is a merge of
 * the pinned commit, or of the own update before it, with a commit that the target has. Anybody can make a commit with these parents and other contents, so who
 * pushed it is asked of the timeline.
 * @returns the own updates, oldest first; `foreign` = it is somebody else's; null = the forge does not tell yet whose it is
 */
export async function ownUpdates(
  forge: Pick<ForgeClient, 'listTimeline' | 'getCommit' | 'listCommits'>,
  { place, number, head, pinned, earlier, tip, isOurs }: Head,
): Promise<readonly string[] | 'foreign' | null> {
  const before = [pinned, ...earlier];
  const upTo = (sha: string): readonly string[] => earlier.slice(0, before.indexOf(sha));
  if (before.includes(head)) return upTo(head);
  const pushes = (await readAll(forge, 'listTimeline', { ...place, index: number })).flatMap(pushOf);
  if (!pushes.some(({ shas }) => shas.includes(head))) return null;
  const chain: string[] = [];
  let sha = head;
  while (!before.includes(sha)) {
    const isPushedByUs = pushes.some(
      ({ shas, isForced, by }) => !isForced && shas.includes(sha) && isOurs(by) === true,
    );
    if (!isPushedByUs || chain.length >= MOST_UPDATES) return 'foreign';
    const { parents = [] } = await forge.getCommit({ ...place, sha, stat: false });
    const [first, second] = parents.map((parent) => parent.sha ?? '');
    if (!first || !second || parents.length !== 2) return 'foreign';
    if (await lacks(forge, place, tip, second)) return 'foreign';
    chain.unshift(sha);
    sha = first;
  }
  return [...upTo(sha), ...chain];
}

/** Whether the commit `one` lacks commits that `other` has. One commit is read: a comparison of branches far apart is read whole, and may be too large. */
export async function lacks(
  forge: Pick<ForgeClient, 'listCommits'>,
  place: Head['place'],
  one: string,
  other: string,
): Promise<boolean> {
  const lean = { page: 1, limit: 1, files: false, stat: false, verification: false };
  return (await forge.listCommits({ ...place, ...lean, sha: other, not: one })).length > 0;
}

interface Push {
  readonly by: { readonly id: string; readonly login: string };
  readonly shas: readonly string[];
  readonly isForced: boolean;
}

/** A push to the branch of a pull request, as its timeline tells it. */
function pushOf({ type, body, user }: TimelineEntry): Push[] {
  if (type !== 'pull_push') return [];
  const content = readBody(body ?? '');
  const ids = isJsonObject(content) ? content['commit_ids'] : null;
  return [
    {
      by: { id: user?.id ?? '', login: user?.login ?? '' },
      shas: Array.isArray(ids) ? ids.map(String) : [],
      isForced: !isJsonObject(content) || content['is_force_push'] !== false,
    },
  ];
}

function readBody(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return null;
  }
}

/** Hidden in the comment that says why a pull request left the queue; of the pinned commit. */
function markOfLeaving(pinned: string): string {
  return `<!-- forgehand:queue:${hashOf('queue', pinned).slice(0, 16)} -->`;
}

/** Clocks of forge and bot may differ by this much. */
const SKEW_MS = 120_000;

/** Whether people were told since it took its place. Pure. */
export function isTold(comments: readonly Comment[], pinned: string, { entered }: Noted): boolean {
  const since = Date.parse(entered) - SKEW_MS;
  return comments.some(
    ({ body, created_at: at }) => (body ?? '').includes(markOfLeaving(pinned)) && Date.parse(at ?? '') >= since,
  );
}

/** The comment that says why a pull request left the queue. */
export function leavingText(pinned: string, base: string, why: Reason): string {
  return `Taken out of the merge queue of ${escapeMarkdown(base)}: ${escapeMarkdown(textOf(why))}.\n\n${markOfLeaving(pinned)}`;
}
