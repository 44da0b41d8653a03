import type { EventKind } from './event-kinds.js';

/**
 * Reads of the forge that confirm what a delivery says. `act`: the read that shows the act itself; `event`: what the kind of the event or the bot itself
 * says, which needs no read.
 */
export const ACT_READS = {
  event: 'the kind of the event itself',
  act: 'the read that shows the act',
  repository: 'the repository',
  issue: 'the issue',
  pull_request: 'the pull request',
  comment: 'the comment',
  review: 'the list of reviews',
  timeline: 'the timeline of the issue, the entries of this person',
  feed: 'the row of the organization’s feed',
  commits: 'the commits',
  branch: 'the branch',
  release: 'the release of the tag',
  status: 'the list of statuses of the commit',
  run: 'the workflow run',
  job: 'the job, or its row in the list of tasks',
} as const;
export type ActRead = keyof typeof ACT_READS;

/** Fields below `event`, each with what is below it, and the read that confirms them. */
type Fields = Readonly<Record<string, ActRead>>;

const COMMON: Fields = {
  id: 'event',
  kind: 'event',
  source: 'event',
  org: 'event',
  stored_at: 'event',
  actor: 'act',
  fact_at: 'act',
  repo: 'repository',
};
const ACTION: Fields = { ...COMMON, action: 'event' };
const NUMBER: Fields = { ...ACTION, number: 'act' };
const ISSUE: Fields = { ...NUMBER, issue: 'issue', labels: 'issue', author: 'issue' };
const PULL: Fields = {
  ...NUMBER,
  pull_request: 'pull_request',
  labels: 'pull_request',
  author: 'pull_request',
  branch: 'pull_request',
  sha: 'pull_request',
};
const LABELS: Fields = {
  'derived.labels_added': 'timeline',
  'derived.labels_removed': 'timeline',
  'derived.not_known': 'event',
};
const ASSIGNEES: Fields = {
  'derived.assignees_added': 'timeline',
  'derived.assignees_removed': 'timeline',
  'derived.not_known': 'event',
};
const MILESTONE: Fields = {
  'derived.milestone_before': 'timeline',
  'derived.milestone_after': 'timeline',
  'derived.not_known': 'event',
};
const DRAFT: Fields = { 'derived.left_draft': 'timeline', 'derived.not_known': 'event' };
const TITLE: Fields = { 'changes.title': 'timeline' };
const REVIEWER: Fields = { requested_reviewer: 'timeline' };
const REVIEW: Fields = { ...PULL, review: 'review' };
const REF: Fields = { ...COMMON, ref: 'feed', ref_type: 'feed', mirror_sync: 'feed' };
const WORKFLOW: Fields = { ...ACTION, run: 'run', sha: 'run', branch: 'run' };
const TASK: Fields = { ...ACTION, task: 'job', sha: 'job', branch: 'job' };
const RELEASE: Fields = {
  ...ACTION,
  release: 'release',
  'derived.became_public': 'event',
  'derived.not_known': 'event',
};
const COMMENT: Fields = { ...ISSUE, comment: 'comment', is_pull: 'comment', pull_request: 'pull_request' };

/**
 * For each kind of event: the fields that a read of the forge confirms. Everything else in a delivery is the word of whoever knows the secret of the hook,
 * and no rule that depends on who acted may read it. A kind without a row has no read at all.
 */
export const ACT_FIELDS: Readonly<Partial<Record<EventKind, Fields>>> = {
  push: {
    ...COMMON,
    ref: 'feed',
    branch: 'feed',
    tag: 'feed',
    before: 'feed',
    after: 'feed',
    sha: 'feed',
    created: 'feed',
    deleted: 'feed',
    compare_url: 'feed',
    total_commits: 'feed',
    pusher: 'feed',
    mirror_sync: 'feed',
    commits: 'commits',
    head_commit: 'commits',
    files: 'commits',
    files_complete: 'commits',
  },
  'branch.created': { ...REF, branch: 'feed', sha: 'branch' },
  'branch.deleted': { ...REF, branch: 'feed' },
  'tag.created': { ...REF, tag: 'feed', sha: 'feed' },
  'tag.deleted': { ...REF, tag: 'feed' },
  'repository.created': ACTION,
  'repository.renamed': { ...ACTION, from: 'feed', changes: 'feed' },
  'issue.opened': ISSUE,
  'issue.closed': ISSUE,
  'issue.reopened': ISSUE,
  'issue.edited': { ...ISSUE, ...TITLE },
  'issue.assigned': { ...ISSUE, ...ASSIGNEES },
  'issue.unassigned': { ...ISSUE, ...ASSIGNEES },
  'issue.labeled': { ...ISSUE, ...LABELS },
  'issue.labels_cleared': { ...ISSUE, ...LABELS },
  'issue.milestoned': { ...ISSUE, ...MILESTONE },
  'issue.demilestoned': { ...ISSUE, ...MILESTONE },
  'comment.created': { ...COMMENT, command: 'comment' },
  'comment.edited': COMMENT,
  'pull_request.opened': PULL,
  'pull_request.closed': PULL,
  'pull_request.merged': PULL,
  'pull_request.reopened': PULL,
  'pull_request.edited': { ...PULL, ...TITLE, ...DRAFT, 'changes.ref': 'timeline' },
  'pull_request.synchronized': { ...PULL, after: 'pull_request' },
  'pull_request.ready_for_review': { ...PULL, ...TITLE, ...DRAFT },
  'pull_request.assigned': { ...PULL, ...ASSIGNEES },
  'pull_request.unassigned': { ...PULL, ...ASSIGNEES },
  'pull_request.labeled': { ...PULL, ...LABELS },
  'pull_request.labels_cleared': { ...PULL, ...LABELS },
  'pull_request.milestoned': { ...PULL, ...MILESTONE },
  'pull_request.demilestoned': { ...PULL, ...MILESTONE },
  'pull_request.review_requested': { ...PULL, ...REVIEWER },
  'pull_request.review_request_removed': { ...PULL, ...REVIEWER },
  'review.approved': REVIEW,
  'review.rejected': REVIEW,
  'review.commented': REVIEW,
  'release.published': { ...RELEASE, tag: 'feed' },
  'release.updated': { ...RELEASE, tag: 'release', 'derived.became_public': 'release' },
  'status.set': { ...COMMON, sha: 'status', status: 'status', commit: 'commits' },
  'workflow.requested': WORKFLOW,
  'workflow.started': WORKFLOW,
  'workflow.finished': WORKFLOW,
  'workflow.recovered': WORKFLOW,
  'task.queued': TASK,
  'task.waiting': TASK,
  'task.started': TASK,
  'task.finished': TASK,
};

/** Kinds whose object can be read, while nothing shows who changed it. Only of its own acts does the bot know that they happened. */
const WITHOUT_AUTHOR: ReadonlySet<EventKind> = new Set<EventKind>(['comment.edited', 'release.updated']);

/** Whether a read of the forge shows who did something of this kind. */
export function showsAuthor(kind: EventKind): boolean {
  return ACT_FIELDS[kind] !== undefined && !WITHOUT_AUTHOR.has(kind);
}

/** Whether one path leads to the other, or they are the same. Paths have dots between names. */
export function overlaps(one: string, other: string): boolean {
  return one === '' || other === '' || `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`);
}

/** The confirmed fields of this kind that a path below `event` reads; an empty path is the whole event. Empty = no read confirms it. */
export function confirmedFields(kind: EventKind, path: string): ReadonlyArray<readonly [field: string, read: ActRead]> {
  return Object.entries(ACT_FIELDS[kind] ?? {}).filter(([field]) => overlaps(field, path));
}
