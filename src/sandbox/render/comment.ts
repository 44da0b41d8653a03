import type { Comment, Issue, Repository } from '../world.js';
import { renderAsset } from './release.js';
import { repoWebUrl } from './repository.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { shownTime } from './view.js';

/** Web address of an issue or pull request. */
export function issueWebUrl(view: View, repo: Repository, issue: Issue): string {
  return repoWebUrl(view, repo, `/${issue.pull ? 'pulls' : 'issues'}/${issue.number}`);
}

/** @param options.withUser false: a real server leaves the user out here and there */
export function renderComment(view: View, comment: Comment, options: { withUser?: boolean } = {}): object {
  const { world } = view;
  const issue = world.issues.get(comment.issueId);
  const url = issue ? issueWebUrl(view, world.repo(issue.repoId), issue) : '';
  return {
    id: comment.id,
    html_url: `${url}#issuecomment-${comment.id}`,
    pull_request_url: issue?.pull ? url : '',
    issue_url: issue?.pull ? '' : url,
    user: options.withUser === false ? null : renderUser(view, world.owner(comment.posterId), { asOther: true }),
    original_author: '',
    original_author_id: 0,
    body: comment.body,
    assets: comment.assets.map((asset) => renderAsset(view, asset)),
    created_at: shownTime(view, comment.createdAt),
    updated_at: shownTime(view, comment.updatedAt),
  };
}
