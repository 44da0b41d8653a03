import { EVENT_TYPES } from '../../core/event-types.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventActor, ForgeEvent } from '../../core/event.js';
import type { ListItem } from '../../forge/operations.js';
import {
  isFactOf,
  isNear,
  isSame,
  objectAt,
  textAt,
  timeOf,
  type ActContext,
  type FeedRowFact,
  type Person,
} from './act-context.js';
import type { ActCode } from './act-proof.js';

/** That an act happened, and who did it. */
export type ActFound =
  /** `by`: the read that told; `at`: when it happened, as the forge says. `actor` null: the forge does not tell who did it. */
  | { readonly proven: true; readonly by: string; readonly actor: EventActor | null; readonly at: string | null }
  | { readonly proven: false; readonly code: ActCode; readonly reason: string };

/** A read that can tell of an act; undefined = this forge, or this token, cannot make it. */
type Read = (context: ActContext) => Promise<ActFound | undefined>;

/** Whether an act of this kind happened: by the first read that this forge offers. */
export async function findAct(context: ActContext): Promise<ActFound> {
  const { kind } = context.event;
  for (const read of readsOf(kind)) {
    const found = await read(context);
    if (found !== undefined) return found;
  }
  return unproven('act.unreadable', `this forge has no read that shows who did it (${kind})`);
}

/** In the order in which they are tried: the object itself, the history of its issue, the feed of the organization. */
function readsOf(kind: EventKind): readonly Read[] {
  const own = OWN_READS[kind] ?? (ENTRIES[kind] ? [timeline] : []);
  return (EVENT_TYPES.get(kind)?.feed.length ?? 0) > 0 ? [...own, inFeed] : own;
}

/** Kinds without a row here, in `ENTRIES` or in the feed cannot be proven: nothing tells who edited a comment or changed a wiki page. */
const OWN_READS: Readonly<Partial<Record<EventKind, readonly Read[]>>> = {
  'comment.created': [comment],
  'issue.opened': [opening],
  'pull_request.opened': [opening],
  'pull_request.merged': [merge],
  'review.approved': [review],
  'review.rejected': [review],
  'review.commented': [review],
  'status.set': [status],
  'workflow.requested': [run, task],
  'workflow.started': [run, task],
  'workflow.finished': [run, task],
  'workflow.recovered': [run, task],
  'task.queued': [run, task],
  'task.waiting': [run, task],
  'task.started': [run, task],
  'task.finished': [run, task],
};

export type TimelineEntry = ListItem<'listTimeline'>;
type Fits = (entry: TimelineEntry) => boolean;

const type =
  (...types: readonly string[]): Fits =>
  (entry) =>
    types.includes(entry.type ?? '');
/** Entries of assignees and of review requests say so when they took somebody away. */
const adding =
  (name: string): Fits =>
  (entry) =>
    entry.type === name && entry['removed_assignee'] !== true;
const removing =
  (name: string): Fits =>
  (entry) =>
    entry.type === name && entry['removed_assignee'] === true;

const TRACKER_ENTRIES = {
  closed: type('close'),
  reopened: type('reopen'),
  assigned: adding('assignees'),
  unassigned: removing('assignees'),
  labeled: type('label'),
  labels_cleared: (entry) => entry.type === 'label' && !isLabelPutOn(entry),
  milestoned: (entry) => entry.type === 'milestone' && !!entry.milestone,
  demilestoned: (entry) => entry.type === 'milestone' && !entry.milestone,
} as const satisfies Record<string, Fits>;

/** What is no object of its own stands in the history of the issue, with who did it. */
const ENTRIES: Readonly<Partial<Record<EventKind, Fits>>> = {
  ...Object.fromEntries(
    Object.entries(TRACKER_ENTRIES).flatMap(([word, fits]) => [
      [`issue.${word}`, fits],
      [`pull_request.${word}`, fits],
    ]),
  ),
  'issue.edited': type('change_title'),
  'pull_request.edited': type('change_title', 'change_target_branch'),
  'pull_request.ready_for_review': type('change_title'),
  'pull_request.synchronized': type('pull_push'),
  'pull_request.review_requested': adding('review_request'),
  'pull_request.review_request_removed': removing('review_request'),
};

/** Of a label, an entry says whether it was put on or taken off. */
export function isLabelPutOn(entry: TimelineEntry): boolean {
  return entry.body === '1';
}

/**
 * The entries of the history that show acts of this kind by whom the event names, oldest first.
 * @returns undefined where the forge has no such read
 */
export async function entriesOf(context: ActContext): Promise<readonly TimelineEntry[] | undefined> {
  const { event, actor } = context;
  const all = await context.timeline();
  if (all === undefined) return undefined;
  return near(all ?? [], event).filter((entry) => isSame(actor, entry.user));
}

function near(entries: readonly TimelineEntry[], event: ForgeEvent): TimelineEntry[] {
  const fits = ENTRIES[event.kind];
  return entries.filter((entry) => fits?.(entry) && isNear(entry.created_at, event));
}

async function timeline(context: ActContext): Promise<ActFound | undefined> {
  const { event, index } = context;
  const entries = await entriesOf(context);
  if (entries === undefined) return undefined;
  const entry = nearestEntry(entries, event);
  if (entry) return proven('timeline', context.actor, entry.created_at);
  const [other] = near((await context.timeline()) ?? [], event).slice(-1);
  return other
    ? otherAuthor(context.actor, other.user, `the history of #${index}`)
    : unproven('act.not_found', `the history of #${index} has no such act`);
}

/** The entry nearest to the time that the delivery tells. */
export function nearestEntry(
  entries: readonly TimelineEntry[],
  { factAt, storedAt }: ForgeEvent,
): TimelineEntry | undefined {
  const atMs = (factAt ?? storedAt).getTime();
  const distance = (entry: TimelineEntry): number => Math.abs((timeOf(entry.created_at) ?? 0) - atMs);
  return entries.toSorted((one, other) => distance(one) - distance(other))[0];
}

async function comment(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor } = context;
  const told = objectAt(event.data, 'comment');
  const id = textAt(told, 'id');
  const found = await context.comment();
  if (found === undefined) return undefined;
  const issue = [found?.issue_url, found?.pull_request_url]
    .find((url) => url)
    ?.split('/')
    .pop();
  if (found === null || issue !== context.index)
    return unproven('act.not_found', `the forge holds no comment ${id} on #${context.index}`);
  if (!isSame(actor, found.user)) return otherAuthor(actor, found.user, `comment ${id}`);
  if (found.body !== textAt(told, 'body'))
    return unproven('act.other_text', `comment ${id} has other words than the delivery`);
  // Somebody else may have put the words into the author's mouth.
  if (timeOf(found.created_at) === null || timeOf(found.created_at) !== timeOf(found.updated_at))
    return unproven('act.other_text', `comment ${id} was edited`);
  return provenAt(found.created_at, event, proven('comment', actor, found.created_at));
}

async function opening(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor } = context;
  const found = await context.issue();
  if (found === undefined) return undefined;
  const what = `#${context.index}`;
  if (found === null) return unproven('act.not_found', `there is no ${what}`);
  return isSame(actor, found.user)
    ? provenAt(found.created_at, event, proven('issue', actor, found.created_at))
    : otherAuthor(actor, found.user, what);
}

async function merge(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor, index } = context;
  const found = await context.pull();
  if (found === undefined) return undefined;
  if (found?.merged !== true) return unproven('act.not_found', `#${index} is not merged`);
  return isSame(actor, found.merged_by)
    ? provenAt(found.merged_at, event, proven('pull_request', actor, found.merged_at))
    : otherAuthor(actor, found.merged_by, `the merge of #${index}`);
}

const REVIEW_STATES: Readonly<Partial<Record<EventKind, string>>> = {
  'review.approved': 'APPROVED',
  'review.rejected': 'REQUEST_CHANGES',
  'review.commented': 'COMMENT',
};

type Review = ListItem<'listReviews'>;

/** The reviews of this kind in the window, whoever wrote them, that nobody took back. */
export async function reviewsOf(context: ActContext): Promise<readonly Review[] | undefined> {
  const { event } = context;
  const all = await context.reviews();
  if (all === undefined) return undefined;
  return (all ?? []).filter(
    (one) => one.state === REVIEW_STATES[event.kind] && counts(one, all ?? []) && isNear(one.submitted_at, event),
  );
}

/**
 * Servers mark a verdict as dismissed when a person dismisses it, and when its author gives another one. A rejection counts although its author
 * gave another verdict since; an approval does so only while that is an approval in force.
 */
function counts(review: Review, all: readonly Review[]): boolean {
  if (review.dismissed !== true) return true;
  const later = all.filter(
    (one) =>
      /^(?:APPROVED|REQUEST_CHANGES)$/.test(one.state ?? '') &&
      isSame(one.user ?? {}, review.user) &&
      BigInt(one.id ?? 0) > BigInt(review.id ?? 0),
  );
  return review.state === 'APPROVED'
    ? later.some((one) => one.state === 'APPROVED' && one.dismissed !== true)
    : later.length > 0;
}

async function review(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor, index } = context;
  const fitting = await reviewsOf(context);
  if (fitting === undefined) return undefined;
  const body = textAt(objectAt(event.data, 'review'), 'body');
  const theirs = fitting.filter(({ user }) => isSame(actor, user));
  const same = theirs.find((one) => (one.body ?? '') === body);
  if (same) return proven('review', actor, same.submitted_at);
  if (theirs.length > 0) return unproven('act.other_text', `the review of #${index} has other words than the delivery`);
  return fitting[0]
    ? otherAuthor(actor, fitting[0].user, `the review of #${index}`)
    : unproven('act.not_found', `the forge holds no such review of #${index}`);
}

/** The statuses of this context and state in the window, those of this person and those without a creator first. */
export async function statusesOf(context: ActContext): Promise<ReadonlyArray<ListItem<'listStatuses'>> | undefined> {
  const { event, actor } = context;
  const told = objectAt(event.data, 'status');
  const all = await context.statuses();
  if (all === undefined) return undefined;
  const fitting = (all ?? []).filter(
    (one) =>
      one.context === textAt(told, 'context') && one.status === textAt(told, 'state') && isNear(one.created_at, event),
  );
  const rank = (one: ListItem<'listStatuses'>): number =>
    (isSame(actor, one.creator) ? 0 : one.creator ? 4 : 2) + (one.id === textAt(told, 'id') ? 0 : 1);
  return fitting.toSorted((one, other) => rank(one) - rank(other));
}

async function status(context: ActContext): Promise<ActFound | undefined> {
  const fitting = await statusesOf(context);
  if (fitting === undefined) return undefined;
  const [first] = fitting;
  if (!first) return unproven('act.not_found', 'the forge holds no such status');
  if (isSame(context.actor, first.creator)) return proven('status', context.actor, first.created_at);
  // Of a status that a workflow set the forge tells no creator.
  if (!first.creator) return proven('status', null, first.created_at);
  return otherAuthor(context.actor, first.creator, 'the status');
}

/** Whether a run or job is as far as its event says; what only began cannot be undone. */
function isReached({ kind }: ForgeEvent, state: string | null | undefined): boolean {
  return !/\.(finished|recovered)$/.test(kind) || state === 'completed';
}

async function run(context: ActContext): Promise<ActFound | undefined> {
  const { actor, event, runId: id } = context;
  const found = await context.run();
  if (found === undefined) return undefined;
  if (found === null) return unproven('act.not_found', `there is no run ${id}`);
  if (event.kind.startsWith('workflow.') && !isReached(event, found.status))
    return unproven('act.not_found', `run ${id} is not over`);
  const who = [found.trigger_actor, found.actor].filter((one) => one !== null && one !== undefined);
  if (who.length === 0) return proven('run', null, null);
  return who.some((one) => isSame(actor, one)) ? proven('run', actor, null) : otherAuthor(actor, who[0], `run ${id}`);
}

/** A list of tasks tells that a job ran, and nothing about who started it. */
async function task(context: ActContext): Promise<ActFound | undefined> {
  const sha = textAt(context.event.data, 'sha');
  const page = await context.tasks();
  if (page === undefined) return undefined;
  const rows = page?.workflow_runs ?? [];
  return rows.some((row) => row.head_sha === sha)
    ? proven('task', null, null)
    : unproven('act.not_found', 'the forge lists no job of this commit');
}

/** The fact of the feed that the event tells once more; null = there is none. Undefined where the forge has no feed. */
export async function feedFactOf(context: ActContext): Promise<FeedRowFact | null | undefined> {
  const { event, actor } = context;
  const facts = (await context.feed())?.filter((fact) => isFactOf(fact, event));
  return facts && (facts.find((fact) => isSame(actor, fact.actor)) ?? facts[0] ?? null);
}

/** The feed tells most acts with who did them; it hides people who hide themselves. */
async function inFeed(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor } = context;
  const fact = await feedFactOf(context);
  if (fact === undefined) return undefined;
  if (fact === null) return unproven('act.not_found', 'the feed has no such act');
  if (!isSame(actor, fact.actor)) return otherAuthor(actor, fact.actor, 'the feed');
  const words = ({ data }: Pick<ForgeEvent, 'data'>): string => textAt(objectAt(data, 'comment'), 'body');
  return event.kind === 'comment.created' && words(fact) !== words(event)
    ? unproven('act.other_text', 'the feed has another text than the delivery')
    : proven('feed', actor, fact.at);
}

export function proven(by: string, actor: EventActor | null, at: string | null | undefined): ActFound {
  return { proven: true, by, actor, at: at ?? null };
}

/** A delivery that tells another time than the forge tells again of an act of then, which its own time would keep out (`retention.max_age`). */
function provenAt(time: string | null | undefined, { factAt }: ForgeEvent, proof: ActFound): ActFound {
  return factAt !== null && timeOf(time) === factAt.getTime()
    ? proof
    : unproven('act.not_found', 'the forge shows another time than the delivery');
}

export function unproven(code: ActCode, reason: string): Extract<ActFound, { proven: false }> {
  return { proven: false, code, reason };
}

function otherAuthor(claimed: Person, told: Person | null | undefined, what: string): ActFound {
  return unproven(
    'act.other_author',
    `the delivery names ${claimed.login ?? 'nobody'}, and the forge names ${told?.login ?? 'somebody else'} for ${what}`,
  );
}
