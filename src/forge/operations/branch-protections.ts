import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { branchProtection } from '../../core/objects/git.js';

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
  getBranchProtection: defineOperation({
    n: 10,
    method: 'GET',
    path: '/repos/{owner}/{repo}/branch_protections/{name}',
    tail: true,
    result: branchProtection,
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'Get a branch protection by the name of its rule',
  }),
  listBranchProtections: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/branch_protections',
    result: listOf(branchProtection),
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'List the branch protections of a repository',
  }),
  createBranchProtection: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/branch_protections',
    body: z.looseObject({ rule_name: z.string().optional(), branch_name: z.string().optional(), ...settings }),
    result: branchProtection,
    success: [201],
    scope: 'repository',
    retry: 'keyed',
    summary: 'Create a branch protection',
  }),
  updateBranchProtection: defineOperation({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/branch_protections/{name}',
    tail: true,
    body: z.looseObject(settings),
    result: branchProtection,
    success: [200],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Change given fields of a branch protection',
  }),
  deleteBranchProtection: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/branch_protections/{name}',
    tail: true,
    result: nothing,
    success: [204],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Delete a branch protection',
  }),
} as const;
