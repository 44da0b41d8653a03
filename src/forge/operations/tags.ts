import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { tag } from '../../core/objects/git.js';
import { paging } from './params.js';

export const tagOperations = {
  listTags: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/tags',
    query: paging,
    result: listOf(tag),
    success: [200],
    scope: 'repository',
    retry: 'read',
    paged: true,
    summary: 'List the tags of a repository, newest first',
  }),
  getTag: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/tags/{tag}',
    tail: true,
    result: tag,
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'Get a tag by name',
  }),
  createTag: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/tags',
    body: z.strictObject({ tag_name: z.string(), message: z.string().optional(), target: z.string().optional() }),
    result: tag,
    success: [201],
    scope: 'repository',
    retry: 'keyed',
    summary: 'Create a tag; with a message it is an annotated one',
  }),
  deleteTag: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/tags/{tag}',
    tail: true,
    result: nothing,
    success: [204],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Delete a tag that no release stands on',
  }),
} as const;
