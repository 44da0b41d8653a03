import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { release } from '../../core/objects/publishing.js';
import { paging } from './params.js';

const fields = {
  body: z.string().optional(),
  draft: z.boolean().optional(),
  name: z.string().optional(),
  prerelease: z.boolean().optional(),
  target_commitish: z.string().optional(),
};

export const releaseOperations = {
  updateRelease: defineOperation({
    n: 13,
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/releases/{id}',
    pathTypes: { id: 'int64' },
    body: z.strictObject({ ...fields, tag_name: z.string().optional() }),
    result: release,
    success: [200],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Change given fields of a release; empty strings are ignored by servers',
  }),
  getRelease: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/releases/{id}',
    pathTypes: { id: 'int64' },
    result: release,
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'Get a release by number',
  }),
  getReleaseByTag: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/releases/tags/{tag}',
    tail: true,
    result: release,
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'Get a release by the name of its tag',
  }),
  getLatestRelease: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/releases/latest',
    result: release,
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'Get the newest release that is neither draft nor prerelease',
  }),
  listReleases: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/releases',
    query: {
      ...paging,
      draft: { type: 'boolean', summary: 'only drafts, or none' },
      'pre-release': { type: 'boolean', summary: 'only prereleases, or none' },
    },
    result: listOf(release),
    success: [200],
    scope: 'repository',
    retry: 'read',
    paged: true,
    summary: 'List the releases of a repository; drafts only for writers',
  }),
  createRelease: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/releases',
    body: z.strictObject({ ...fields, tag_name: z.string() }),
    result: release,
    success: [201],
    scope: 'repository',
    retry: 'keyed',
    summary: 'Create a release',
  }),
  deleteRelease: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/releases/{id}',
    pathTypes: { id: 'int64' },
    result: nothing,
    success: [204],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Delete a release; the tag stays',
  }),
} as const;
