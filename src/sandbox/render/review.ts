import type { Review } from '../world.js';
import { issueWebUrl } from './comment.js';
import { renderTeam } from './team.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { shownTime } from './view.js';

/** A review, or a request for one (of a person or a team), which has no address of its own. */
export function renderReview(view: View, review: Review): object {
  const { world } = view;
  const issue = world.issues.get(review.issueId);
  const url = issue ? issueWebUrl(view, world.repo(issue.repoId), issue) : '';
  const team = review.teamId === null ? undefined : world.teams.get(review.teamId);
  return {
    id: review.id,
    user: review.teamId === null ? renderUser(view, world.owner(review.reviewerId)) : null,
    team: team ? renderTeam(view, team) : null,
    state: review.state,
    body: review.body,
    commit_id: review.commitId,
    stale: review.isStale,
    official: review.isOfficial,
    dismissed: review.isDismissed,
    comments_count: review.comments.length,
    submitted_at: shownTime(view, review.submittedAt),
    updated_at: shownTime(view, review.updatedAt),
    html_url: review.commentId === 0n ? '' : `${url}#issuecomment-${review.commentId}`,
    pull_request_url: url,
  };
}
