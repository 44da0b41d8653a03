import type { Comment, Id } from '../world.js';
import { renderComment } from './comment.js';
import { renderLabel } from './label.js';
import { renderMilestone } from './milestone.js';
import { renderUser } from './user.js';
import type { View } from './view.js';

const TYPES: Record<Comment['kind'], string> = {
  comment: 'comment',
  review: 'review',
  close: 'close',
  reopen: 'reopen',
  merge: 'merge_pull',
  label: 'label',
  milestone: 'milestone',
  assignees: 'assignees',
  title: 'change_title',
  review_request: 'review_request',
  other: 'comment',
};

/** An entry of an issue's timeline: a comment without what only comments have, and everything that any kind of entry may tell. */
export function renderEntry(view: View, entry: Comment): object {
  const { id, html_url, pull_request_url, issue_url, user, body, created_at, updated_at } = renderComment(view, entry) as Record<string, unknown>;
  const detail = entry.detail ?? {};
  return {
    id,
    type: TYPES[entry.kind],
    html_url,
    pull_request_url,
    issue_url,
    user,
    body: entry.kind === 'label' && !detail.isRemoval ? '1' : body,
    created_at,
    updated_at,
    old_project_id: 0,
    project_id: 0,
    old_milestone: milestoneOf(view, detail.oldMilestoneId),
    milestone: milestoneOf(view, detail.milestoneId),
    tracked_time: null,
    old_title: detail.oldTitle ?? '',
    new_title: detail.newTitle ?? '',
    old_ref: detail.oldRef ?? '',
    new_ref: detail.newRef ?? '',
    ref_issue: null,
    ref_comment: null,
    ref_action: 'none',
    ref_commit_sha: '',
    review_id: detail.reviewId ?? 0,
    label: labelOf(view, detail.labelId),
    assignee: detail.assigneeId === undefined ? null : renderUser(view, view.world.owner(detail.assigneeId), { asOther: true }),
    assignee_team: null,
    removed_assignee: detail.isRemoval === true,
    resolve_doer: null,
    dependent_issue: null,
  };
}

function milestoneOf(view: View, id: Id | null | undefined): object | null {
  const milestone = id === null || id === undefined ? undefined : view.world.milestones.get(id);
  return milestone ? renderMilestone(view, milestone) : null;
}

function labelOf(view: View, id: Id | undefined): object | null {
  const label = id === undefined ? undefined : view.world.labels.get(id);
  return label ? renderLabel(view, label) : null;
}
