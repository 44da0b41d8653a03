import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { release } from '../../core/objects/publishing.js';
import { paging } from './params.js';

const { del, get, patch, post } = operationsOf('repository');

const fields = {
  body: z.string().optional(),
  draft: z.boolean().optional(),
  name: z.string().optional(),
  prerelease: z.boolean().optional(),
  target_commitish: z.string().optional(),
};

export const releaseOperations = {
  updateRelease: patch('/repos/{owner}/{repo}/releases/{id}', {
    n: 13,
    body: z.strictObject({ ...fields, tag_name: z.string().optional() }),
    result: release,
    summary: 'Change given fields of a release; empty strings are ignored by servers',
  }),
  getRelease: get('/repos/{owner}/{repo}/releases/{id}', { result: release, summary: 'Get a release by number' }),
  getReleaseByTag: get('/repos/{owner}/{repo}/releases/tags/{tag}', {
    tail: true,
    result: release,
    summary: 'Get a release by the name of its tag',
  }),
  getLatestRelease: get('/repos/{owner}/{repo}/releases/latest', {
    result: release,
    summary: 'Get the newest release that is neither draft nor prerelease',
  }),
  listReleases: get('/repos/{owner}/{repo}/releases', {
    query: {
      ...paging,
      draft: { type: 'boolean', summary: 'only drafts, or none' },
      'pre-release': { type: 'boolean', summary: 'only prereleases, or none' },
    },
    result: listOf(release),
    summary: 'List the releases of a repository; drafts only for writers',
  }),
  createRelease: post('/repos/{owner}/{repo}/releases', {
    body: z.strictObject({ ...fields, tag_name: z.string() }),
    result: release,
    retry: 'keyed',
    summary: 'Create a release',
  }),
  deleteRelease: del('/repos/{owner}/{repo}/releases/{id}', { summary: 'Delete a release; the tag stays' }),
} as const;
