import type { EntrySource } from '../core/event.js';
import type { EventKind } from '../core/event-kinds.js';

/** One fact that a row tells: its kind, and the event types of the one delivery that tells it too; none = no server sends one. */
interface ToldFact {
  readonly kind: EventKind;
  readonly deliveries: readonly string[];
}

/** What rows of one word tell. `when` tells apart two meanings of one word. */
export interface RowMeaning {
  readonly opType: string;
  readonly when?: 'empty content' | 'push object';
  readonly facts: readonly ToldFact[];
  /** Many rows of one act tell one fact: lines and summary of a review. Everywhere else one row tells each fact. */
  readonly manyRows?: true;
}

const factOf = (kind: EventKind, ...deliveries: string[]): ToldFact => ({ kind, deliveries });

const REVIEWS = ['pull_request_review_comment', 'pull_request_review_approved', 'pull_request_review_rejected'];

/**
 * What each feed row tells, and in which deliveries the same facts come: the whole of what is known about twins, in one place. The readers
 * of `normalize/` make the events; a test holds them to this table, and the recordings hold the table to the servers.
 */
export const FEED_ROWS: readonly RowMeaning[] = [
  { opType: 'create_repo', facts: [factOf('repository.created', 'repository')] },
  { opType: 'rename_repo', facts: [factOf('repository.renamed', 'repository')] },
  { opType: 'transfer_repo', facts: [factOf('repository.transferred')] },
  { opType: 'star_repo', facts: [factOf('repository.starred')] },
  { opType: 'watch_repo', facts: [factOf('repository.watched')] },
  { opType: 'commit_repo', when: 'empty content', facts: [factOf('branch.created', 'create')] },
  { opType: 'commit_repo', when: 'push object', facts: [factOf('push', 'push')] },
  { opType: 'mirror_sync_push', facts: [factOf('push', 'push')] },
  { opType: 'mirror_sync_create', facts: [factOf('branch.created', 'create')] },
  { opType: 'mirror_sync_delete', facts: [factOf('branch.deleted', 'delete')] },
  { opType: 'delete_branch', facts: [factOf('branch.deleted', 'delete')] },
  { opType: 'push_tag', facts: [factOf('push', 'push'), factOf('tag.created', 'create')] },
  { opType: 'delete_tag', facts: [factOf('push', 'push'), factOf('tag.deleted', 'delete')] },
  { opType: 'create_issue', facts: [factOf('issue.opened', 'issues')] },
  { opType: 'close_issue', facts: [factOf('issue.closed', 'issues')] },
  { opType: 'reopen_issue', facts: [factOf('issue.reopened', 'issues')] },
  { opType: 'comment_issue', facts: [factOf('comment.created', 'issue_comment')] },
  { opType: 'create_pull_request', facts: [factOf('pull_request.opened', 'pull_request')] },
  { opType: 'close_pull_request', facts: [factOf('pull_request.closed', 'pull_request')] },
  { opType: 'reopen_pull_request', facts: [factOf('pull_request.reopened', 'pull_request')] },
  { opType: 'merge_pull_request', facts: [factOf('pull_request.merged', 'pull_request')] },
  { opType: 'auto_merge_pull_request', facts: [factOf('pull_request.merged', 'pull_request')] },
  { opType: 'pull_request_ready_for_review', facts: [factOf('pull_request.ready_for_review', 'pull_request')] },
  { opType: 'comment_pull', facts: [factOf('comment.created', 'pull_request_comment', ...REVIEWS)], manyRows: true },
  { opType: 'approve_pull_request', facts: [factOf('review.approved', 'pull_request_review_approved')] },
  { opType: 'reject_pull_request', facts: [factOf('review.rejected', 'pull_request_review_rejected')] },
  { opType: 'pull_review_dismissed', facts: [factOf('review.dismissed')] },
  { opType: 'publish_release', facts: [factOf('release.published', 'release')] },
];

/** A task row tells one fact, by its status; where servers send `workflow_job`, that is its twin. */
export const TASK_ROWS: readonly ToldFact[] = [
  factOf('task.queued', 'workflow_job'),
  factOf('task.waiting', 'workflow_job'),
  factOf('task.started', 'workflow_job'),
  factOf('task.finished', 'workflow_job'),
];

/**
 * Kinds whose fact key holds a commit or a ref: the key tells nearly all, so twins pair whatever the time between them, the nearest first.
 * All others pair within `PAIR_WITHIN_MS` of each other in the fact's own time.
 */
const KEYED_BY_REF: ReadonlySet<EventKind> = new Set<EventKind>([
  'push',
  'branch.created',
  'branch.deleted',
  'tag.created',
  'tag.deleted',
  'pull_request.synchronized',
  'release.published',
  'task.queued',
  'task.waiting',
  'task.started',
  'task.finished',
]);

const PAIR_WITHIN_MS = 10_000;

/** Largest distance of twins in the fact's own time, in ms. */
export function windowOf(kind: EventKind): number {
  return KEYED_BY_REF.has(kind) ? Number.POSITIVE_INFINITY : PAIR_WITHIN_MS;
}

/**
 * What the lists of issues and releases let one know without any delivery or row: a state that differs. Which acts led to it, when each was and who did it
 * is not told.
 */
const LISTED: readonly ToldFact[] = [
  ...(['issue', 'pull_request'] as const).flatMap((of) => [
    factOf(`${of}.edited`, of === 'issue' ? 'issues' : of),
    factOf(`${of}.labeled`, `${of}_label`),
    factOf(`${of}.assigned`, `${of}_assign`),
    factOf(`${of}.unassigned`, `${of}_assign`),
    factOf(`${of}.milestoned`, `${of}_milestone`),
    factOf(`${of}.demilestoned`, `${of}_milestone`),
  ]),
  factOf('release.updated', 'release'),
];

/** Kinds that entries can tell, with the source that tells them first. */
export function entryKinds(): ReadonlyMap<EventKind, EntrySource> {
  const kinds = new Map<EventKind, EntrySource>(
    FEED_ROWS.flatMap(({ facts }) => facts.map(({ kind }) => [kind, 'feed'] as const)),
  );
  // By the rows of their lines and summary.
  kinds.set('review.commented', 'feed');
  for (const { kind } of TASK_ROWS) kinds.set(kind, 'tasks');
  for (const { kind } of LISTED) kinds.set(kind, 'lists');
  return kinds;
}

/** Event types of the deliveries that tell a kind; empty = no server sends one. */
function deliveriesOfKind(kind: EventKind): readonly string[] {
  if (kind === 'review.commented') return ['pull_request_review_comment'];
  return (
    [...FEED_ROWS.flatMap(({ facts }) => facts), ...TASK_ROWS, ...LISTED].find((fact) => fact.kind === kind)
      ?.deliveries ?? []
  );
}

/** Whether this server sends a delivery for such a fact at all. An unknown server is taken for one that does. */
export function isDelivered(
  kind: EventKind,
  server: { readonly product: string | null; readonly version: string | null },
): boolean {
  if (deliveriesOfKind(kind).length === 0) return false;
  if (kind.startsWith('task.')) return server.product !== 'forgejo' && isFrom(server, 1, 24);
  if (kind === 'repository.renamed') return server.product === 'gitea' && isFrom(server, 1, 28);
  return true;
}

function isFrom({ version }: { readonly version: string | null }, major: number, minor: number): boolean {
  const read = /^v?(\d+)\.(\d+)/.exec(version ?? '');
  if (!read) return true;
  return Number(read[1]) > major || (Number(read[1]) === major && Number(read[2]) >= minor);
}
