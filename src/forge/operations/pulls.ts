import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { idInput, listOf, nothing } from '../../core/objects/base.js';
import { commit } from '../../core/objects/git.js';
import { changedFile, pull, review, reviewComment } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const { del, get, patch, post } = operationsOf('repository');

const reviewers = z.strictObject({
  reviewers: z.array(z.string()).optional(),
  team_reviewers: z.array(z.string()).optional(),
});

export const pullOperations = {
  listPulls: get('/repos/{owner}/{repo}/pulls', {
    query: {
      state: { type: 'string', summary: 'open, closed or all' },
      sort: { type: 'string', summary: 'recentupdate, leastupdate or oldest; newest first when left out' },
      ...paging,
    },
    result: listOf(pull),
    summary: 'List the pull requests of a repository',
  }),
  createPull: post('/repos/{owner}/{repo}/pulls', {
    body: z.strictObject({
      base: z.string(),
      head: z.string(),
      title: z.string(),
      body: z.string().optional(),
      labels: z.array(idInput).optional(),
      assignees: z.array(z.string()).optional(),
    }),
    result: pull,
    retry: 'keyed',
    summary: 'Open a pull request',
  }),
  getPull: get('/repos/{owner}/{repo}/pulls/{index}', { result: pull, summary: 'Get a pull request by number' }),
  getPullDiff: get('/repos/{owner}/{repo}/pulls/{index}.diff', {
    query: { binary: { type: 'boolean', summary: 'with the contents of binary files' } },
    result: z.string().nullable(),
    text: true,
    summary: 'Get what a pull request changes, as git diff writes it; null = it is not UTF-8',
  }),
  getPullByBranches: get('/repos/{owner}/{repo}/pulls/{base}/{head}', {
    tail: true,
    result: pull,
    summary: 'Get a pull request by its two branches',
  }),
  getPullOfCommit: get('/repos/{owner}/{repo}/commits/{sha}/pull', {
    result: pull,
    summary: 'Get the pull request that was merged as a commit; 404 for every other commit',
  }),
  updatePullBranch: post('/repos/{owner}/{repo}/pulls/{index}/update', {
    query: { style: { type: 'string', summary: 'merge (default) or rebase' } },
    result: nothing,
    success: [200],
    retry: 'keyed',
    summary: 'Bring the head of a pull request up to date with its base',
  }),
  updatePull: patch('/repos/{owner}/{repo}/pulls/{index}', {
    body: z.strictObject({
      base: z.string().optional(),
      body: z.string().optional(),
      labels: z.array(idInput).optional(),
      milestone: idInput.optional(),
      state: z.enum(['open', 'closed']).optional(),
      title: z.string().optional(),
    }),
    result: pull,
    success: [201, 200],
    summary: 'Change given fields of a pull request',
  }),
  listPullCommits: get('/repos/{owner}/{repo}/pulls/{index}/commits', {
    query: paging,
    result: listOf(commit),
    summary: 'List the commits of a pull request',
  }),
  listPullFiles: get('/repos/{owner}/{repo}/pulls/{index}/files', {
    query: paging,
    result: listOf(changedFile),
    summary: 'List the files that a pull request changes',
  }),
  mergePull: post('/repos/{owner}/{repo}/pulls/{index}/merge', {
    body: z.strictObject({
      do: z.enum(['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only', 'manually-merged']),
      delete_branch_after_merge: z.boolean().optional(),
      head_commit_id: z.string().optional(),
      force_merge: z.boolean().optional(),
      merge_when_checks_succeed: z.boolean().optional(),
    }),
    result: nothing,
    success: [200, 201],
    retry: 'keyed',
    summary: 'Merge a pull request; always send head_commit_id',
  }),
  isPullMerged: get('/repos/{owner}/{repo}/pulls/{index}/merge', {
    result: nothing,
    success: [204],
    summary: 'Ask whether a pull request is merged; 404 means no',
  }),
  cancelPlannedMerge: del('/repos/{owner}/{repo}/pulls/{index}/merge', {
    summary: 'Give up the merge that waits for the checks; 404 means that none does',
  }),
  requestReviewers: post('/repos/{owner}/{repo}/pulls/{index}/requested_reviewers', {
    body: reviewers,
    result: listOf(review),
    retry: 'absolute',
    summary: 'Ask users or teams for a review',
  }),
  removeReviewers: del('/repos/{owner}/{repo}/pulls/{index}/requested_reviewers', {
    body: reviewers,
    summary: 'Take back requests for review',
  }),
  listReviews: get('/repos/{owner}/{repo}/pulls/{index}/reviews', {
    query: paging,
    result: listOf(review),
    summary: 'List the reviews of a pull request',
  }),
  createReview: post('/repos/{owner}/{repo}/pulls/{index}/reviews', {
    body: z.strictObject({
      body: z.string().optional(),
      comments: z.array(z.looseObject({ body: z.string().optional(), path: z.string().optional() })).optional(),
      commit_id: z.string().optional(),
      event: z.string().optional(),
    }),
    result: review,
    success: [200],
    retry: 'keyless',
    summary: 'Review a pull request',
  }),
  dismissReview: post('/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/dismissals', {
    body: z.strictObject({ message: z.string() }),
    result: review,
    success: [200],
    retry: 'absolute',
    summary: 'Dismiss a verdict; nobody is told',
  }),
  undismissReview: post('/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/undismissals', {
    result: review,
    success: [200],
    retry: 'absolute',
    summary: 'Let a dismissed verdict count again',
  }),
  submitReview: post('/repos/{owner}/{repo}/pulls/{index}/reviews/{id}', {
    body: z.strictObject({ body: z.string().optional(), event: z.string() }),
    result: review,
    success: [200],
    retry: 'keyed',
    summary: 'Submit a review that waits',
  }),
  deleteReview: del('/repos/{owner}/{repo}/pulls/{index}/reviews/{id}', { summary: 'Delete a review' }),
  listReviewComments: get('/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments', {
    result: listOf(reviewComment),
    summary: 'List the comments on lines of one review',
  }),
} as const;
