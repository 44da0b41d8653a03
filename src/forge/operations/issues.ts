import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { idInput, listOf } from '../../core/objects/base.js';
import { comment, issue, timelineEntry } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const { del, get, patch, post, put } = operationsOf('issue');

const commentBody = z.strictObject({ body: z.string() });
const dueDate = z.iso.datetime({ offset: true }).optional();

export const issueOperations = {
  listIssues: get('/repos/{owner}/{repo}/issues', {
    query: {
      state: { type: 'string', summary: 'open, closed or all' },
      labels: { type: 'string', summary: 'names with commas between; unknown names are dropped by servers' },
      type: { type: 'string', summary: 'issues or pulls' },
      since: { type: 'string', summary: 'updated after this time' },
      before: { type: 'string', summary: 'updated before this time' },
      created_by: { type: 'string', summary: 'login of the author; 404 for one who is not there' },
      milestones: { type: 'string', summary: 'titles with commas between; any of them' },
      ...paging,
    },
    result: listOf(issue),
    summary: 'List the issues of a repository',
  }),
  getIssue: get('/repos/{owner}/{repo}/issues/{index}', {
    result: issue,
    summary: 'Get an issue or pull request by number',
  }),
  createIssue: post('/repos/{owner}/{repo}/issues', {
    body: z.strictObject({
      title: z.string(),
      body: z.string().optional(),
      assignees: z.array(z.string()).optional(),
      closed: z.boolean().optional(),
      due_date: dueDate,
      labels: z.array(idInput).optional(),
      milestone: idInput.optional(),
    }),
    result: issue,
    retry: 'keyless',
    summary: 'Create an issue',
  }),
  updateIssue: patch('/repos/{owner}/{repo}/issues/{index}', {
    body: z.strictObject({
      title: z.string().optional(),
      body: z.string().optional(),
      assignees: z.array(z.string()).optional(),
      due_date: dueDate,
      milestone: idInput.optional(),
      state: z.enum(['open', 'closed']).optional(),
    }),
    result: issue,
    success: [201, 200],
    summary: 'Change given fields of an issue',
  }),
  deleteIssue: del('/repos/{owner}/{repo}/issues/{index}', { summary: 'Delete an issue' }),
  addIssueAssignees: post('/repos/{owner}/{repo}/issues/{index}/assignees', {
    body: z.strictObject({ assignees: z.array(z.string()) }),
    result: issue,
    retry: 'absolute',
    summary: 'Assign users without taking others away',
  }),
  lockIssue: put('/repos/{owner}/{repo}/issues/{index}/lock', {
    body: z.strictObject({ lock_reason: z.string().optional() }),
    summary: 'Lock the conversation of an issue',
  }),
  listTimeline: get('/repos/{owner}/{repo}/issues/{index}/timeline', {
    query: { since: { type: 'string', summary: 'updated after this time' }, ...paging },
    result: listOf(timelineEntry),
    totalIsOfPage: true,
    summary: 'List the timeline of an issue; its total is the length of the page',
  }),
  listComments: get('/repos/{owner}/{repo}/issues/{index}/comments', {
    query: {
      since: { type: 'string', summary: 'updated after this time' },
      before: { type: 'string', summary: 'updated before this time' },
    },
    result: listOf(comment),
    summary: 'List all comments of an issue; not paged',
  }),
  getComment: get('/repos/{owner}/{repo}/issues/comments/{id}', {
    result: comment.optional(),
    success: [200, 204],
    summary: 'Get a comment by its number; 204 for entries that are no text',
  }),
  createComment: post('/repos/{owner}/{repo}/issues/{index}/comments', {
    body: commentBody,
    result: comment,
    retry: 'keyless',
    summary: 'Comment on an issue or pull request',
  }),
  updateComment: patch('/repos/{owner}/{repo}/issues/comments/{id}', {
    body: commentBody,
    result: comment.optional(),
    success: [200, 204],
    summary: 'Change the text of a comment; 204 for entries that are no text',
  }),
  deleteComment: del('/repos/{owner}/{repo}/issues/comments/{id}', { summary: 'Delete a comment' }),
  searchIssues: get('/repos/issues/search', {
    query: {
      state: { type: 'string', summary: 'open, closed or all' },
      labels: { type: 'string', summary: 'names with commas between; any of them' },
      milestones: { type: 'string', summary: 'titles with commas between; any of them' },
      q: { type: 'string', summary: 'words of the title' },
      type: { type: 'string', summary: 'issues or pulls' },
      owner: { type: 'string', summary: 'owner of the repositories' },
      since: { type: 'string', summary: 'updated after this time' },
      before: { type: 'string', summary: 'updated before this time' },
      ...paging,
    },
    result: listOf(issue),
    summary: 'Search issues and pull requests across repositories',
  }),
  removeIssueAssignees: del('/repos/{owner}/{repo}/issues/{index}/assignees', {
    body: z.strictObject({ assignees: z.array(z.string()) }),
    result: issue,
    success: [200],
    summary: 'Take assignees off without touching others',
  }),
  unlockIssue: del('/repos/{owner}/{repo}/issues/{index}/lock', { summary: 'Unlock the conversation of an issue' }),
} as const;
