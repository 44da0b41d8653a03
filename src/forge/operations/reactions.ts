import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { reaction } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const index = { index: 'int64' } as const;
const id = { id: 'int64' } as const;
const content = z.strictObject({ content: z.string() });

/** Gitea answers null where nobody reacted. */
const reactions = listOf(reaction)
  .nullable()
  .transform((all) => all ?? []);

/** A second reaction of one account with the same content is answered 200 with the first; a reaction is told to nobody. */
export const reactionOperations = {
  listIssueReactions: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/reactions',
    pathTypes: index,
    query: paging,
    result: reactions,
    success: [200],
    scope: 'issue',
    retry: 'read',
    paged: true,
    summary: 'List the reactions to an issue or pull request',
  }),
  addIssueReaction: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/reactions',
    pathTypes: index,
    body: content,
    result: reaction,
    success: [201, 200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'React to an issue or pull request',
  }),
  removeIssueReaction: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/reactions',
    pathTypes: index,
    body: content,
    result: nothing,
    success: [204, 200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Take a reaction to an issue back; the same answer where there is none',
  }),
  listCommentReactions: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/reactions',
    pathTypes: id,
    result: reactions,
    success: [200],
    scope: 'issue',
    retry: 'read',
    summary: 'List all reactions to a comment; not paged',
  }),
  addCommentReaction: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/reactions',
    pathTypes: id,
    body: content,
    result: reaction,
    success: [201, 200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'React to a comment',
  }),
  removeCommentReaction: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/reactions',
    pathTypes: id,
    body: content,
    result: nothing,
    success: [204, 200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Take a reaction to a comment back; the same answer where there is none',
  }),
} as const;
