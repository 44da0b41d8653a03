import type { Comment, Issue, User, World } from '../world.js';
import { touch } from './issue.js';

export function makeComment(world: World, by: User, issue: Issue, body: string): Comment {
  const comment: Comment = {
    id: world.nextId('comment'),
    issueId: issue.id,
    kind: 'comment',
    posterId: by.id,
    body,
    createdAt: world.now(),
    updatedAt: world.now(),
    assets: [],
  };
  world.comments.set(comment.id, comment);
  touch(world, issue);
  world.changed('comment', comment.id, 'created');
  world.happened(by, { kind: 'comment.created', repo: world.repo(issue.repoId), issue, comment });
  return comment;
}

/** The same text again changes nothing and is told to nobody. */
export function changeComment(world: World, by: User, issue: Issue, comment: Comment, body: string): boolean {
  const oldBody = comment.body;
  if (body === oldBody) return false;
  comment.body = body;
  comment.updatedAt = world.now();
  world.changed('comment', comment.id, 'updated');
  world.happened(by, { kind: 'comment.edited', repo: world.repo(issue.repoId), issue, comment, oldBody });
  return true;
}

export function deleteComment(world: World, by: User, issue: Issue, comment: Comment): void {
  world.comments.delete(comment.id);
  world.changed('comment', comment.id, 'deleted');
  if (comment.kind === 'comment') world.happened(by, { kind: 'comment.deleted', repo: world.repo(issue.repoId), issue, comment });
}
