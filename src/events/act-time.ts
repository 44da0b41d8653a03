import type { EventKind } from '../core/event-kinds.js';
import type { EventFact } from './event-fact.js';
import { objectOf, timeOf } from './read-fields.js';

type TimeField = readonly [object: string, field: string];

const ISSUE_UPDATED: TimeField = ['issue', 'updated_at'];
const PULL_UPDATED: TimeField = ['pull_request', 'updated_at'];

/**
 * The field of an event's data that tells when its act happened; null = no field does, so the age of such an act is unknown. A field qualifies when the act
 * itself sets it, on every recorded server. Times of creation and of commits never qualify: both may be older than the act. Where no recording shows that an
 * act changes `updated_at`, the kind is null too.
 */
export const ACT_TIMES: Readonly<Record<EventKind, TimeField | null>> = {
  push: null,
  'branch.created': null,
  'branch.deleted': null,
  'tag.created': null,
  'tag.deleted': null,
  'repository.created': null,
  'repository.deleted': null,
  'repository.renamed': null,
  'repository.transferred': null,
  'repository.forked': null,
  'repository.starred': null,
  'repository.watched': null,
  'issue.opened': null,
  'issue.closed': ['issue', 'closed_at'],
  'issue.reopened': ISSUE_UPDATED,
  'issue.edited': ISSUE_UPDATED,
  'issue.deleted': null,
  'issue.assigned': ISSUE_UPDATED,
  'issue.unassigned': ISSUE_UPDATED,
  // A label that is there already is put on again without a change of `updated_at`, and the forge sends the delivery all the same.
  'issue.labeled': null,
  'issue.labels_cleared': null,
  'issue.milestoned': ISSUE_UPDATED,
  'issue.demilestoned': ISSUE_UPDATED,
  'comment.created': null,
  'comment.edited': ['comment', 'updated_at'],
  // The body shows the comment as it was before.
  'comment.deleted': null,
  'pull_request.opened': null,
  'pull_request.closed': ['pull_request', 'closed_at'],
  'pull_request.merged': ['pull_request', 'merged_at'],
  'pull_request.reopened': PULL_UPDATED,
  'pull_request.edited': PULL_UPDATED,
  'pull_request.deleted': null,
  'pull_request.synchronized': PULL_UPDATED,
  'pull_request.ready_for_review': null,
  'pull_request.assigned': PULL_UPDATED,
  'pull_request.unassigned': PULL_UPDATED,
  'pull_request.labeled': null,
  'pull_request.labels_cleared': null,
  'pull_request.milestoned': PULL_UPDATED,
  'pull_request.demilestoned': PULL_UPDATED,
  'pull_request.review_requested': PULL_UPDATED,
  'pull_request.review_request_removed': PULL_UPDATED,
  // Reviews carry no time of their own; each one changes its pull request.
  'review.approved': PULL_UPDATED,
  'review.rejected': PULL_UPDATED,
  'review.commented': PULL_UPDATED,
  'review.dismissed': null,
  // `published_at` equals `created_at`, which may be the time of the tag's commit.
  'release.published': null,
  'release.updated': null,
  'release.deleted': null,
  'package.created': null,
  'package.deleted': null,
  'wiki.created': null,
  'wiki.edited': null,
  'wiki.deleted': null,
  'status.set': ['status', 'updated_at'],
  'workflow.requested': null,
  'workflow.started': ['run', 'started_at'],
  'workflow.finished': ['run', 'completed_at'],
  'workflow.recovered': ['run', 'completed_at'],
  'task.queued': null,
  'task.waiting': null,
  'task.started': ['task', 'started_at'],
  'task.finished': ['task', 'completed_at'],
  'mirror.pushed': null,
  'mirror.ref_created': null,
  'mirror.ref_deleted': null,
  'hook.tested': null,
  unrecognized: null,
};

/** When the act of a delivered fact happened, by the forge's clock; null = the delivery does not tell. */
export function actTimeOf({ kind, data }: Pick<EventFact, 'kind' | 'data'>): Date | null {
  const place = ACT_TIMES[kind];
  return place && timeOf(objectOf(data[place[0]])?.[place[1]]);
}
