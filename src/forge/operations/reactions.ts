import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { reaction } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const { del, get, post } = operationsOf('issue');

const content = z.strictObject({ content: z.string() });

/** Gitea answers null where nobody reacted. */
const reactions = listOf(reaction)
  .nullable()
  .transform((all) => all ?? []);

/** A second reaction of one account with the same content is answered 200 with the first; a reaction is told to nobody. */
export const reactionOperations = {
  listIssueReactions: get('/repos/{owner}/{repo}/issues/{index}/reactions', {
    query: paging,
    result: reactions,
    summary: 'List the reactions to an issue or pull request',
  }),
  addIssueReaction: post('/repos/{owner}/{repo}/issues/{index}/reactions', {
    body: content,
    result: reaction,
    success: [201, 200],
    retry: 'absolute',
    summary: 'React to an issue or pull request',
  }),
  removeIssueReaction: del('/repos/{owner}/{repo}/issues/{index}/reactions', {
    body: content,
    success: [204, 200],
    summary: 'Take a reaction to an issue back; the same answer where there is none',
  }),
  listCommentReactions: get('/repos/{owner}/{repo}/issues/comments/{id}/reactions', {
    result: reactions,
    summary: 'List all reactions to a comment; not paged',
  }),
  addCommentReaction: post('/repos/{owner}/{repo}/issues/comments/{id}/reactions', {
    body: content,
    result: reaction,
    success: [201, 200],
    retry: 'absolute',
    summary: 'React to a comment',
  }),
  removeCommentReaction: del('/repos/{owner}/{repo}/issues/comments/{id}/reactions', {
    body: content,
    success: [204, 200],
    summary: 'Take a reaction to a comment back; the same answer where there is none',
  }),
} as const;
