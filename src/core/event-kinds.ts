/**
 * Every kind of event, the same whatever the source (delivery, feed row, task row).
 * Sources: the event names of Gitea and Forgejo deliveries, the feed's `op_type` values and the action task states.
 */
export const EVENT_KINDS = [
  'push',
  'branch.created',
  'branch.deleted',
  'tag.created',
  'tag.deleted',
  'repository.created',
  'repository.deleted',
  'repository.renamed',
  'repository.transferred',
  'repository.forked',
  'repository.starred',
  'repository.watched',
  'issue.opened',
  'issue.closed',
  'issue.reopened',
  'issue.edited',
  'issue.deleted',
  'issue.assigned',
  'issue.unassigned',
  'issue.labeled',
  'issue.labels_cleared',
  'issue.milestoned',
  'issue.demilestoned',
  'comment.created',
  'comment.edited',
  'comment.deleted',
  'pull_request.opened',
  'pull_request.closed',
  'pull_request.merged',
  'pull_request.reopened',
  'pull_request.edited',
  'pull_request.deleted',
  'pull_request.synchronized',
  'pull_request.ready_for_review',
  'pull_request.assigned',
  'pull_request.unassigned',
  'pull_request.labeled',
  'pull_request.labels_cleared',
  'pull_request.milestoned',
  'pull_request.demilestoned',
  'pull_request.review_requested',
  'pull_request.review_request_removed',
  'review.approved',
  'review.rejected',
  'review.commented',
  'review.dismissed',
  'release.published',
  'release.updated',
  'release.deleted',
  'package.created',
  'package.deleted',
  'wiki.created',
  'wiki.edited',
  'wiki.deleted',
  'status.set',
  'workflow.requested',
  'workflow.started',
  'workflow.finished',
  'workflow.recovered',
  'task.queued',
  'task.waiting',
  'task.started',
  'task.finished',
  'mirror.pushed',
  'mirror.ref_created',
  'mirror.ref_deleted',
  'hook.tested',
  'unrecognized',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

export function isEventKind(word: string): word is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(word);
}

/** Names that `on` has for a part of the pushes. The event itself is a `push`, however it is asked for. */
const PUSH_PARTS = ['push.branch', 'push.tag'] as const;

/** What may stand in `on`. */
export type StartKind = EventKind | (typeof PUSH_PARTS)[number];

export const START_KINDS: readonly StartKind[] = EVENT_KINDS.flatMap((kind): StartKind[] =>
  kind === 'push' ? [kind, ...PUSH_PARTS] : [kind],
);

export function isStartKind(word: string): word is StartKind {
  return (START_KINDS as readonly string[]).includes(word);
}

export function isPushPart(word: string): word is (typeof PUSH_PARTS)[number] {
  return (PUSH_PARTS as readonly string[]).includes(word);
}

const FOR_ANYBODY =
  /^(repository\.(forked|starred|watched)|issue\.(opened|closed|reopened|edited)|comment\.|pull_request\.(opened|closed|reopened|edited|synchronized|ready_for_review|review_requested|review_request_removed)$|review\.|workflow\.|task\.|unrecognized$)/;

/** Whether somebody without any right can cause this event in a public repository. All other kinds need the right to write. */
export function isForAnybody(kind: EventKind): boolean {
  return FOR_ANYBODY.test(kind);
}
