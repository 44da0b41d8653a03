import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { combinedStatus, commitStatus } from '../../core/objects/git.js';
import { paging } from './params.js';

export const statusOperations = {
  createStatus: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/statuses/{sha}',
    body: z.strictObject({
      context: z.string().optional(),
      description: z.string().optional(),
      state: z.enum(['pending', 'success', 'error', 'failure', 'warning', 'skipped']).optional(),
      target_url: z.string().optional(),
    }),
    result: commitStatus,
    success: [201],
    scope: 'repository',
    retry: 'keyless',
    summary: 'Add a status to a commit; the newest of a context counts',
  }),
  getCombinedStatus: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/status',
    query: paging,
    result: combinedStatus,
    success: [200],
    scope: 'repository',
    retry: 'read',
    paged: true,
    list: 'statuses',
    summary: 'Get the combined status of a commit',
  }),
  listStatuses: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/statuses',
    query: paging,
    result: listOf(commitStatus),
    success: [200],
    scope: 'repository',
    retry: 'read',
    paged: true,
    summary: 'List every status of a commit, newest first',
  }),
  listStatusesOfSha: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/statuses/{sha}',
    query: paging,
    result: listOf(commitStatus),
    success: [200],
    scope: 'repository',
    retry: 'read',
    paged: true,
    summary: 'List every status of a commit, newest first, by another path',
  }),
} as const;
