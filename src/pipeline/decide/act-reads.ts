import { EVENT_TYPES } from '../../core/event-types.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventActor, ForgeEvent } from '../../core/event.js';
import { TOLD_BEFORE, toldBefore } from '../../core/told-acts.js';
import type { ListItem } from '../../forge/operations.js';
import {
  isAfter,
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
import { ENTRIES, actOfEntry, entriesOf, isOfChanges, near } from './act-entries.js';
import type { ActCode } from './act-proof.js';

/** That an act happened, and who did it. */
export type ActFound =
  /**
   * `by`: the read that told; `at`: when it happened, as the forge says. `actor` null: the forge does not tell who did it. `acts`: names of the entries
   * that show it.
   */
  | {
      readonly proven: true;
      readonly by: string;
      readonly actor: EventActor | null;
      readonly at: string | null;
      readonly acts: readonly string[];
    }
  | { readonly proven: false; readonly code: ActCode; readonly reason: string };

/** A read that can tell of an act; undefined = this forge, or this token, cannot make it. */
type Read = (context: ActContext) => Promise<ActFound | undefined>;

/** Whether an act of this kind happened: by the first read that this forge offers. */
export async function findAct(context: ActContext): Promise<ActFound> {
  const { kind } = context.event;
  for (const read of readsOf(kind)) {
    const act = await read(context);
    if (act === undefined) continue;
    // All that fits was told by others, and is no sign that nothing like it happened.
    const { firstTold } = context;
    return !act.proven && act.code === 'act.not_found' && firstTold !== null
      ? unproven(TOLD_BEFORE, toldBefore(firstTold))
      : act;
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

async function timeline(context: ActContext): Promise<ActFound | undefined> {
  const { event, index } = context;
  const entries = await entriesOf(context);
  if (entries === undefined) return undefined;
  const changes = objectAt(event.data, 'changes');
  if (isOfChanges(event) && !objectAt(changes, 'title') && !objectAt(changes, 'ref'))
    return unproven('act.unreadable', `the history of #${index} does not tell who changed the text`);
  const subject = entries.length > 0 && /^(?:issue|pull_request)\./.test(event.kind) ? await context.issue() : null;
  const elsewhere = subject && otherKind(event, subject, `#${index}`);
  if (elsewhere) return elsewhere;
  const [entry] = entries;
  if (entry)
    return proven(
      'timeline',
      context.actor,
      entry.created_at,
      entries.map((one) => actOfEntry(one, event)),
    );
  const [other] = near((await context.timeline()) ?? [], event).slice(-1);
  return other && !isSame(context.actor, other.user)
    ? otherAuthor(context.actor, other.user, `the history of #${index}`)
    : unproven('act.not_found', `the history of #${index} has no such act`);
}

async function comment(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor } = context;
  const claimedComment = objectAt(event.data, 'comment');
  const id = textAt(claimedComment, 'id');
  const currentComment = await context.comment();
  if (currentComment === undefined) return undefined;
  const issue = [currentComment?.issue_url, currentComment?.pull_request_url]
    .find((url) => url)
    ?.split('/')
    .pop();
  if (currentComment === null || issue !== context.index)
    return unproven('act.not_found', `the forge holds no comment ${id} on #${context.index}`);
  if (!isSame(actor, currentComment.user)) return otherAuthor(actor, currentComment.user, `comment ${id}`);
  if (currentComment.body !== textAt(claimedComment, 'body'))
    return unproven('act.other_text', `comment ${id} has other words than the delivery`);
  // Somebody else may have put the words into the author's mouth.
  if (
    timeOf(currentComment.created_at) === null ||
    timeOf(currentComment.created_at) !== timeOf(currentComment.updated_at)
  )
    return unproven('act.other_text', `comment ${id} was edited`);
  return once(
    context,
    `comment ${id}`,
    () =>
      provenAt(
        currentComment.created_at,
        event,
        proven('comment', actor, currentComment.created_at, [`comment ${id}`]),
      ),
    (earlier) => isAfter(earlier, currentComment.created_at) && wordsOf(earlier) === currentComment.body,
  );
}

/** Issues and pull requests share their numbers: an act at the one is none at the other. */
function otherKind(
  { kind }: ForgeEvent,
  { pull_request: pull }: { pull_request?: unknown },
  what: string,
): ActFound | null {
  const isPull = pull !== null && pull !== undefined;
  if (isPull === kind.startsWith('pull_request.')) return null;
  return unproven('act.not_found', `${what} is ${isPull ? 'a pull request' : 'an issue'}`);
}

async function opening(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor } = context;
  const issue = await context.issue();
  if (issue === undefined) return undefined;
  const what = `#${context.index}`;
  if (issue === null) return unproven('act.not_found', `there is no ${what}`);
  const other = otherKind(event, issue, what);
  if (other) return other;
  if (!isSame(actor, issue.user)) return otherAuthor(actor, issue.user, what);
  const act = `opening ${context.repo.id} ${context.index}`;
  const titleOf = ({ data }: ForgeEvent): string =>
    textAt(objectAt(data, 'issue') ?? objectAt(data, 'pull_request'), 'title');
  return once(
    context,
    act,
    () => provenAt(issue.created_at, event, proven('issue', actor, issue.created_at, [act])),
    (earlier) => isAfter(earlier, issue.created_at) && titleOf(earlier) === issue.title,
  );
}

async function merge(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor, index } = context;
  const pull = await context.pull();
  if (pull === undefined) return undefined;
  if (pull?.merged !== true) return unproven('act.not_found', `#${index} is not merged`);
  if (!isSame(actor, pull.merged_by)) return otherAuthor(actor, pull.merged_by, `the merge of #${index}`);
  const act = `merge ${context.repo.id} ${index}`;
  return once(
    context,
    act,
    () => provenAt(pull.merged_at, event, proven('pull_request', actor, pull.merged_at, [act])),
    (earlier) => isAfter(earlier, pull.merged_at),
  );
}

const REVIEW_STATES: Readonly<Partial<Record<EventKind, string>>> = {
  'review.approved': 'APPROVED',
  'review.rejected': 'REQUEST_CHANGES',
  'review.commented': 'COMMENT',
};

type Review = ListItem<'listReviews'>;

/** The reviews of this kind in the window, whoever wrote them, that nobody took back. */
async function reviewsOf(context: ActContext): Promise<readonly Review[] | undefined> {
  const { event, actor } = context;
  const all = await context.reviews();
  if (all === undefined) return undefined;
  const fitting = (all ?? []).filter(
    (one) => one.state === REVIEW_STATES[event.kind] && counts(one, all ?? []) && isNear(one.submitted_at, event),
  );
  return context.free(fitting, actOfReview, (earlier, reviews) => {
    const theirs = reviews.filter((one) => isSame(actor, one.user) && isAfter(earlier, one.submitted_at));
    return reviewsTold(earlier, theirs).slice(0, 1);
  });
}

/** The reviews with the words of the event, nearest first. */
function reviewsTold(event: ForgeEvent, reviews: readonly Review[]): readonly Review[] {
  const body = textAt(objectAt(event.data, 'review'), 'body');
  const atMs = (event.factAt ?? event.storedAt).getTime();
  const awayMs = ({ submitted_at }: Review): number => Math.abs((timeOf(submitted_at) ?? 0) - atMs);
  return reviews.filter((one) => (one.body ?? '') === body).toSorted((one, other) => awayMs(one) - awayMs(other));
}

/** The review that the event tells. */
export async function reviewOf(context: ActContext): Promise<Review | undefined> {
  const theirs = (await reviewsOf(context))?.filter(({ user }) => isSame(context.actor, user));
  return theirs && reviewsTold(context.event, theirs)[0];
}

function actOfReview({ id }: Review): string {
  return `review ${id}`;
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
  const theirs = fitting.filter(({ user }) => isSame(actor, user));
  const [same] = reviewsTold(event, theirs);
  if (same) return proven('review', actor, same.submitted_at, [actOfReview(same)]);
  if (theirs.length > 0) return unproven('act.other_text', `the review of #${index} has other words than the delivery`);
  return fitting[0]
    ? otherAuthor(actor, fitting[0].user, `the review of #${index}`)
    : unproven('act.not_found', `the forge holds no such review of #${index}`);
}

/** The status that the delivery names or, if the forge has none of its number, all of its context and state in the window: those of this person first. */
export async function statusesOf(context: ActContext): Promise<ReadonlyArray<ListItem<'listStatuses'>> | undefined> {
  const { event, actor } = context;
  const claimedStatus = objectAt(event.data, 'status');
  const all = await context.statuses();
  if (all === undefined) return undefined;
  const fitting = (all ?? []).filter(
    (one) =>
      one.context === textAt(claimedStatus, 'context') &&
      one.status === textAt(claimedStatus, 'state') &&
      isNear(one.created_at, event),
  );
  const rank = (one: ListItem<'listStatuses'>): number => (isSame(actor, one.creator) ? 0 : one.creator ? 2 : 1);
  const own = fitting.filter(({ id }) => id === textAt(claimedStatus, 'id'));
  const free = await context.free(own.length > 0 ? own : fitting, actOfStatus);
  return free.toSorted((one, other) => rank(one) - rank(other));
}

function actOfStatus({ id }: ListItem<'listStatuses'>): string {
  return `status ${id}`;
}

async function status(context: ActContext): Promise<ActFound | undefined> {
  const fitting = await statusesOf(context);
  if (fitting === undefined) return undefined;
  const [first] = fitting;
  if (!first) return unproven('act.not_found', 'the forge holds no such status');
  const acts = [actOfStatus(first)];
  if (isSame(context.actor, first.creator)) return proven('status', context.actor, first.created_at, acts);
  // Of a status that a workflow set the forge tells no creator.
  if (!first.creator) return proven('status', null, first.created_at, acts);
  return otherAuthor(context.actor, first.creator, 'the status');
}

/** Whether a run or job is as far as its event says; what only began cannot be undone. */
function isReached(event: ForgeEvent, state: string | null | undefined): boolean {
  return !isOver(event) || state === 'completed';
}

function isOver({ kind }: ForgeEvent): boolean {
  return /\.(finished|recovered)$/.test(kind);
}

async function run(context: ActContext): Promise<ActFound | undefined> {
  const { actor, event, runId: id } = context;
  const workflowRun = await context.run();
  if (workflowRun === undefined) return undefined;
  if (workflowRun === null) return unproven('act.not_found', `there is no run ${id}`);
  if (event.kind.startsWith('workflow.') && !isReached(event, workflowRun.status))
    return unproven('act.not_found', `run ${id} is not over`);
  const job = event.kind.startsWith('task.') ? await jobOf(context) : undefined;
  if (job === null) return unproven('act.not_found', `run ${id} has no such job`);
  const who = [workflowRun.trigger_actor, workflowRun.actor].filter((one) => one !== null && one !== undefined);
  const isBy = who.some((one) => isSame(actor, one));
  if (!isBy && who.length > 0) return otherAuthor(actor, who[0], `run ${id}`);
  // Made again it is another one: by its attempt or, where the forge counts none, by when it ended.
  const attempt = workflowRun.run_attempt || (isOver(event) ? workflowRun.completed_at : null);
  const act = [event.kind, id, attempt ?? '', job ?? ''].join(' ');
  return once(context, act, () => proven('run', isBy ? actor : null, null, [act]));
}

/** The number of a job of the run; null = the run has no such job. Undefined where the forge does not list them all. */
async function jobOf(context: ActContext): Promise<string | null | undefined> {
  const all = await context.jobs();
  const id = textAt(objectAt(context.event.data, 'task'), 'job_id');
  const job = all?.jobs?.find((one) => one.id === id);
  if (job) return `${job.id} ${job.run_attempt ?? ''}`;
  return all?.jobs && all.jobs.length >= (all.total_count ?? 0) ? null : undefined;
}

/** A list of tasks tells that a job ran, and nothing about who started it. */
async function task(context: ActContext): Promise<ActFound | undefined> {
  const sha = textAt(context.event.data, 'sha');
  const page = await context.tasks();
  if (page === undefined) return undefined;
  const { kind } = context.event;
  const actOf = ({ id }: { readonly id?: string | null | undefined }): string => `${kind} ${id}`;
  const rows = (page?.workflow_runs ?? []).filter((row) => row.head_sha === sha);
  const [row] = await context.free(rows, actOf);
  return row
    ? proven('task', null, null, [actOf(row)])
    : unproven('act.not_found', 'the forge lists no job of this commit');
}

/** The fact of the feed that the event tells once more; null = there is none. Undefined where the forge has no feed. */
export async function feedFactOf(context: ActContext): Promise<FeedRowFact | null | undefined> {
  const { event, actor } = context;
  const facts = (await context.feed())?.filter((fact) => isFactOf(fact, event));
  if (!facts) return undefined;
  const free = await context.free(facts, actOfRow, (earlier, rowFacts) =>
    rowFacts
      .filter((fact) => isSame(actor, fact.actor) && isAfter(earlier, fact.at) && hasWordsOf(fact, earlier))
      .slice(0, 1),
  );
  return free.find((fact) => isSame(actor, fact.actor)) ?? free[0] ?? null;
}

function hasWordsOf(fact: FeedRowFact, event: ForgeEvent): boolean {
  return fact.kind !== 'comment.created' || wordsOf(fact) === wordsOf(event);
}

/** Of a comment. */
function wordsOf({ data }: Pick<ForgeEvent, 'data'>): string {
  return textAt(objectAt(data, 'comment'), 'body');
}

/** A row may tell several facts. */
function actOfRow({ kind, row }: FeedRowFact): string {
  return `row ${kind} ${row}`;
}

/** The feed tells most acts with who did them; it hides people who hide themselves. */
async function inFeed(context: ActContext): Promise<ActFound | undefined> {
  const { event, actor } = context;
  const fact = await feedFactOf(context);
  if (fact === undefined) return undefined;
  if (fact === null) return unproven('act.not_found', 'the feed has no such act');
  if (!isSame(actor, fact.actor)) return otherAuthor(actor, fact.actor, 'the feed');
  return !hasWordsOf(fact, event)
    ? unproven('act.other_text', 'the feed has another text than the delivery')
    : proven('feed', actor, fact.at, [actOfRow(fact)]);
}

export function proven(
  by: string,
  actor: EventActor | null,
  at: string | null | undefined,
  acts: readonly string[],
): ActFound {
  return { proven: true, by, actor, at: at ?? null, acts };
}

/** Unless another event told this one act. @param isTold whether an earlier event told it. Default: only one upon which the rule acted did */
async function once(
  context: ActContext,
  act: string,
  actOf: () => ActFound,
  isTold?: (earlier: ForgeEvent) => boolean,
): Promise<ActFound> {
  const free = await context.free([act], (one) => one, isTold && ((earlier, acts) => (isTold(earlier) ? acts : [])));
  return free.length > 0 ? actOf() : unproven('act.not_found', '');
}

/**
 * A delivery that tells another time than the forge tells again of an act of then, which its own time would keep out (`retention.max_age`). What polling saw first has
 * the time of its row, which is written after the object.
 */
function provenAt(time: string | null | undefined, { source, factAt }: ForgeEvent, proof: ActFound): ActFound {
  return source !== 'webhook' || (factAt !== null && timeOf(time) === factAt.getTime())
    ? proof
    : unproven('act.not_found', 'the forge shows another time than the delivery');
}

export function unproven(code: ActCode, reason: string): Extract<ActFound, { proven: false }> {
  return { proven: false, code, reason };
}

function otherAuthor(claimed: Person, author: Person | null | undefined, what: string): ActFound {
  return unproven(
    'act.other_author',
    `the delivery names ${claimed.login ?? 'nobody'}, and the forge names ${author?.login ?? 'somebody else'} for ${what}`,
  );
}
