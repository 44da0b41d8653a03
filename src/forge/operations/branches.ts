import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { branch } from '../../core/objects/git.js';
import { paging } from './params.js';

export const branchOperations = {
  createBranch: defineOperation({
    n: 1,
    method: 'POST',
    path: '/repos/{owner}/{repo}/branches',
    body: z.strictObject({
      new_branch_name: z.string(),
      old_branch_name: z.string().optional(),
      old_ref_name: z.string().optional(),
    }),
    result: branch,
    success: [201],
    scope: 'repository',
    retry: 'keyed',
    summary: 'Create a branch',
  }),
  getBranch: defineOperation({
    n: 2,
    method: 'GET',
    path: '/repos/{owner}/{repo}/branches/{branch}',
    tail: true,
    result: branch,
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'Get a branch',
  }),
  listBranches: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/branches',
    query: paging,
    result: listOf(branch),
    success: [200],
    scope: 'repository',
    retry: 'read',
    paged: true,
    summary: 'List the branches of a repository',
  }),
  deleteBranch: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/branches/{branch}',
    tail: true,
    result: nothing,
    success: [204],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Delete a branch',
  }),
} as const;
