import { diffTrees } from '../git/diff.js';
import { isConflicting } from '../make/pull.js';
import { permissionOn } from '../permissions.js';
import type { Issue, Pull, Repository } from '../world.js';
import { issueWebUrl } from './comment.js';
import { commentCount, isDraft, shownAssignees, shownLabels, shownMilestone } from './issue.js';
import { renderRepository } from './repository.js';
import { shaped } from './shape.js';
import { renderTeam } from './team.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { shownTime, shownTimeOrNull } from './view.js';

/** A pull request. Its `url` is the web address, as on a real server. */
export function renderPull(view: View, issue: Issue): object {
  const { world } = view;
  const { pull } = issue;
  if (!pull) throw new Error(`issue ${issue.id} is no pull request`);
  const repo = world.repo(issue.repoId);
  const url = issueWebUrl(view, repo, issue);
  const isMerged = pull.mergedAt !== 0;
  return shaped(view, 'pull', {
    id: pull.id,
    url,
    number: issue.number,
    user: renderUser(view, world.owner(issue.posterId)),
    title: issue.title,
    body: issue.body,
    labels: shownLabels(view, issue),
    milestone: shownMilestone(view, issue),
    assignee: shownAssignees(view, issue)[0] ?? null,
    assignees: shownAssignees(view, issue),
    requested_reviewers: pull.requestedReviewers.map((id) => renderUser(view, world.owner(id), { asOther: true })),
    requested_reviewers_teams: pull.requestedTeams.flatMap((id) => {
      const team = world.teams.get(id);
      return team ? [renderTeam(view, team, { withOrganization: true })] : [];
    }),
    state: issue.state,
    draft: isDraft(issue),
    is_locked: issue.isLocked,
    comments: commentCount(view, issue),
    review_comments: reviewCount(view, issue),
    ...sizeOf(repo, pull),
    html_url: url,
    diff_url: `${url}.diff`,
    patch_url: `${url}.patch`,
    mergeable: isMerged || (!isDraft(issue) && !isConflicting(repo, pull)),
    merged: isMerged,
    merged_at: shownTimeOrNull(view, pull.mergedAt),
    merge_commit_sha: isMerged ? pull.mergeCommitSha : null,
    merged_by: pull.mergedById === null ? null : renderUser(view, world.owner(pull.mergedById), { asOther: true }),
    allow_maintainer_edit: pull.allowMaintainerEdit,
    base: {
      label: pull.baseBranch,
      ref: pull.baseBranch,
      sha: repo.git.branches.get(pull.baseBranch) ?? pull.baseSha,
      repo_id: repo.id,
      repo: shownRepo(view, repo),
    },
    head: shownHead(view, issue, pull),
    merge_base: pull.mergeBase,
    due_date: shownTimeOrNull(view, issue.dueOn),
    created_at: shownTime(view, issue.createdAt),
    updated_at: shownTime(view, issue.updatedAt),
    closed_at: shownTimeOrNull(view, issue.closedAt),
    pin_order: 0,
    content_version: issue.contentVersion,
    flow: 0,
  });
}

function shownRepo(view: View, repo: Repository): object {
  return renderRepository(view, repo, permissionOn(view.world, view.viewer, repo));
}

/** Without its repository when the fork is gone; with the pull request's own ref when the branch is. */
function shownHead(view: View, issue: Issue, pull: Pull): object {
  const repo = pull.headRepoId === null ? undefined : view.world.repos.get(pull.headRepoId);
  const isThere = repo?.git.branches.has(pull.headBranch) ?? false;
  return {
    label: pull.headBranch,
    ref: isThere ? pull.headBranch : `refs/pull/${issue.number}/head`,
    sha: pull.headSha,
    repo_id: pull.headRepoId ?? -1,
    repo: repo ? shownRepo(view, repo) : null,
  };
}

function reviewCount(view: View, issue: Issue): number {
  return [...view.world.reviews.values()].filter((one) => one.issueId === issue.id && one.state !== 'REQUEST_REVIEW' && one.state !== 'PENDING').length;
}

function sizeOf(repo: Repository, pull: Pull): { additions: number; deletions: number; changed_files: number } {
  const [base, head] = [repo.git.commits.get(pull.mergeBase), repo.git.commits.get(pull.headSha)];
  const changes = base && head ? diffTrees(repo.git, base.files, head.files) : [];
  return {
    additions: changes.reduce((sum, one) => sum + one.additions, 0),
    deletions: changes.reduce((sum, one) => sum + one.deletions, 0),
    changed_files: changes.length,
  };
}
