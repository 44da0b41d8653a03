import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { branchProtection } from '../../core/objects/git.js';

const { del, get, patch, post } = operationsOf('repository');

const settings = {
  block_on_rejected_reviews: z.boolean().optional(),
  enable_push: z.boolean().optional(),
  enable_push_whitelist: z.boolean().optional(),
  enable_status_check: z.boolean().optional(),
  protected_file_patterns: z.string().optional(),
  push_whitelist_usernames: z.array(z.string()).optional(),
  required_approvals: z.int().optional(),
  status_check_contexts: z.array(z.string()).optional(),
};

export const branchProtectionOperations = {
  getBranchProtection: get('/repos/{owner}/{repo}/branch_protections/{name}', {
    n: 10,
    tail: true,
    result: branchProtection,
    summary: 'Get a branch protection by the name of its rule',
  }),
  listBranchProtections: get('/repos/{owner}/{repo}/branch_protections', {
    result: listOf(branchProtection),
    summary: 'List the branch protections of a repository',
  }),
  createBranchProtection: post('/repos/{owner}/{repo}/branch_protections', {
    body: z.looseObject({ rule_name: z.string().optional(), branch_name: z.string().optional(), ...settings }),
    result: branchProtection,
    retry: 'keyed',
    summary: 'Create a branch protection',
  }),
  updateBranchProtection: patch('/repos/{owner}/{repo}/branch_protections/{name}', {
    tail: true,
    body: z.looseObject(settings),
    result: branchProtection,
    summary: 'Change given fields of a branch protection',
  }),
  deleteBranchProtection: del('/repos/{owner}/{repo}/branch_protections/{name}', {
    tail: true,
    summary: 'Delete a branch protection',
  }),
} as const;
