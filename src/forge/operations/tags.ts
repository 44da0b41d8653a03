import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { tag } from '../../core/objects/git.js';
import { paging } from './params.js';

const { del, get, post } = operationsOf('repository');

export const tagOperations = {
  listTags: get('/repos/{owner}/{repo}/tags', {
    query: paging,
    result: listOf(tag),
    summary: 'List the tags of a repository, newest first',
  }),
  getTag: get('/repos/{owner}/{repo}/tags/{tag}', { tail: true, result: tag, summary: 'Get a tag by name' }),
  createTag: post('/repos/{owner}/{repo}/tags', {
    body: z.strictObject({ tag_name: z.string(), message: z.string().optional(), target: z.string().optional() }),
    result: tag,
    retry: 'keyed',
    summary: 'Create a tag; with a message it is an annotated one',
  }),
  deleteTag: del('/repos/{owner}/{repo}/tags/{tag}', { tail: true, summary: 'Delete a tag that no release stands on' }),
} as const;
