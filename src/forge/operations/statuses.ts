import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { combinedStatus, commitStatus } from '../../core/objects/git.js';
import { paging } from './params.js';

const { get, post } = operationsOf('repository');

export const statusOperations = {
  createStatus: post('/repos/{owner}/{repo}/statuses/{sha}', {
    body: z.strictObject({
      context: z.string().optional(),
      description: z.string().optional(),
      state: z.enum(['pending', 'success', 'error', 'failure', 'warning', 'skipped']).optional(),
      target_url: z.string().optional(),
    }),
    result: commitStatus,
    retry: 'keyless',
    summary: 'Add a status to a commit; the newest of a context counts',
  }),
  getCombinedStatus: get('/repos/{owner}/{repo}/commits/{ref}/status', {
    query: paging,
    result: combinedStatus,
    list: 'statuses',
    summary: 'Get the combined status of a commit',
  }),
  listStatuses: get('/repos/{owner}/{repo}/commits/{ref}/statuses', {
    query: paging,
    result: listOf(commitStatus),
    summary: 'List every status of a commit, newest first',
  }),
  listStatusesOfSha: get('/repos/{owner}/{repo}/statuses/{sha}', {
    query: paging,
    result: listOf(commitStatus),
    summary: 'List every status of a commit, newest first, by another path',
  }),
} as const;
