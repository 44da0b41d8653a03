import type { FeedRow } from '../world.js';
import { renderComment } from '../render/comment.js';
import { renderRepository } from '../render/repository.js';
import { renderUser } from '../render/user.js';
import { shownTime, type View } from '../render/view.js';

/** A row with the actor and the repository as they are now; the comment as long as it is there, without its user. */
export function renderFeedRow(view: View, row: FeedRow): object {
  const { world } = view;
  const actor = world.owners.get(row.actorId);
  const repo = world.repos.get(row.repoId);
  const comment = world.comments.get(row.commentId);
  return {
    id: row.id,
    user_id: row.receiverId,
    op_type: row.opType,
    act_user_id: row.actorId,
    act_user: actor ? renderUser(view, actor) : null,
    repo_id: row.repoId,
    repo: repo ? renderRepository(view, repo) : null,
    comment_id: row.commentId,
    comment: comment ? renderComment(view, comment, { withUser: false }) : null,
    ref_name: row.refName,
    is_private: row.isPrivate,
    content: row.content,
    created: shownTime(view, row.created),
  };
}
