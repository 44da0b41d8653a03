import { z } from 'zod';
import { del, get, post } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { tag } from '../../core/objects/git.js';
import { paging } from './params.js';

export const tagOperations = {
  listTags: get('/repos/{owner}/{repo}/tags', {
    query: paging,
    result: listOf(tag),
    scope: 'repository',
    summary: 'List the tags of a repository, newest first',
  }),
  getTag: get('/repos/{owner}/{repo}/tags/{tag}', {
    tail: true,
    result: tag,
    scope: 'repository',
    summary: 'Get a tag by name',
  }),
  createTag: post('/repos/{owner}/{repo}/tags', {
    body: z.strictObject({ tag_name: z.string(), message: z.string().optional(), target: z.string().optional() }),
    result: tag,
    scope: 'repository',
    retry: 'keyed',
    summary: 'Create a tag; with a message it is an annotated one',
  }),
  deleteTag: del('/repos/{owner}/{repo}/tags/{tag}', {
    tail: true,
    scope: 'repository',
    summary: 'Delete a tag that no release stands on',
  }),
} as const;
