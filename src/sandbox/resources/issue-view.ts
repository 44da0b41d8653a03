import { type View, type Shown, shaped, shownTime, shownTimeOrNull } from '../render/view.js';
import type { Issue, Label, Repository } from '../world.js';
import { repoWebUrl, repoApiUrl, fullName } from './repository.js';
import type { issue as apiIssue } from '../../core/objects/tracker.js';
import { renderUser } from './owner-view.js';
import { renderAsset } from './release.js';
import { byName, renderLabel } from './label.js';
import { renderMilestone } from './milestone.js';

/** Web address of an issue or pull request. */
export function issueWebUrl(view: View, repo: Repository, issue: Issue): string {
  return repoWebUrl(view, repo, `/${issue.pull ? 'pulls' : 'issues'}/${issue.number}`);
}

/** An issue, or a pull request seen as an issue. */
export function renderIssue(view: View, issue: Issue): Shown<typeof apiIssue> {
  const { world } = view;
  const repo = world.repo(issue.repoId);
  const assignees = shownAssignees(view, issue);
  return shaped(view, 'issue', {
    id: issue.id,
    url: repoApiUrl(view, repo, `/issues/${issue.number}`),
    html_url: issueWebUrl(view, repo, issue),
    number: issue.number,
    user: renderUser(view, world.owner(issue.posterId)),
    original_author: '',
    original_author_id: 0,
    title: issue.title,
    body: issue.body,
    ref: issue.ref,
    assets: issue.assets.map((asset) => renderAsset(view, asset)),
    labels: shownLabels(view, issue),
    milestone: shownMilestone(view, issue),
    projects: null,
    assignee: assignees[0] ?? null,
    assignees: assignees.length === 0 ? null : assignees,
    state: issue.state,
    is_locked: issue.isLocked,
    comments: commentCount(view, issue),
    created_at: shownTime(view, issue.createdAt),
    updated_at: shownTime(view, issue.updatedAt),
    closed_at: shownTimeOrNull(view, issue.closedAt),
    due_date: shownTimeOrNull(view, issue.dueOn),
    time_estimate: 0,
    pull_request: pullSummary(view, repo, issue),
    repository: { id: repo.id, name: repo.name, owner: world.ownerOf(repo).login, full_name: fullName(view, repo) },
    pin_order: 0,
    content_version: issue.contentVersion,
  });
}

export function shownLabels(view: View, issue: Issue) {
  const labels = [...issue.labels]
    .map((id) => view.world.labels.get(id))
    .filter((label): label is Label => label !== undefined);
  return labels.sort(byName).map((label) => renderLabel(view, label));
}

export function shownMilestone(view: View, issue: Issue) {
  const milestone = issue.milestoneId === null ? undefined : view.world.milestones.get(issue.milestoneId);
  return milestone ? renderMilestone(view, milestone) : null;
}

/** Texts of persons in the conversation; reviews count apart. */
export function commentCount(view: View, issue: Issue): number {
  return [...view.world.comments.values()].filter(
    (comment) => comment.issueId === issue.id && comment.kind === 'comment',
  ).length;
}

/** A title that begins so marks work in progress. */
export function isDraft(issue: Issue): boolean {
  return /^(wip:|\[wip\])/i.test(issue.title);
}

function pullSummary(view: View, repo: Repository, issue: Issue) {
  const { pull } = issue;
  if (!pull) return null;
  return {
    merged: pull.mergedAt !== 0,
    merged_at: shownTimeOrNull(view, pull.mergedAt),
    draft: isDraft(issue),
    html_url: issueWebUrl(view, repo, issue),
  };
}

export function shownAssignees(view: View, issue: Issue) {
  return issue.assignees.map((id) => renderUser(view, view.world.owner(id), { asOther: true }));
}
