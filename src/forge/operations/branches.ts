import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { branch } from '../../core/objects/git.js';
import { paging } from './params.js';

const { del, get, post } = operationsOf('repository');

export const branchOperations = {
  createBranch: post('/repos/{owner}/{repo}/branches', {
    n: 1,
    body: z.strictObject({
      new_branch_name: z.string(),
      old_branch_name: z.string().optional(),
      old_ref_name: z.string().optional(),
    }),
    result: branch,
    retry: 'keyed',
    summary: 'Create a branch',
  }),
  getBranch: get('/repos/{owner}/{repo}/branches/{branch}', {
    n: 2,
    tail: true,
    result: branch,
    summary: 'Get a branch',
  }),
  listBranches: get('/repos/{owner}/{repo}/branches', {
    query: paging,
    result: listOf(branch),
    summary: 'List the branches of a repository',
  }),
  deleteBranch: del('/repos/{owner}/{repo}/branches/{branch}', { tail: true, summary: 'Delete a branch' }),
} as const;
