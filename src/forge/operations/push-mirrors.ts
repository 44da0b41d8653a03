import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf, nothing, secretInput } from '../../core/objects/base.js';
import { pushMirror } from '../../core/objects/repositories.js';
import { paging } from './params.js';

const { del, get, post } = operationsOf('repository');

export const pushMirrorOperations = {
  createPushMirror: post('/repos/{owner}/{repo}/push_mirrors', {
    n: 7,
    body: z.strictObject({
      interval: z.string().optional(),
      remote_address: z.string().optional(),
      remote_password: secretInput.optional(),
      remote_username: z.string().optional(),
      sync_on_commit: z.boolean().optional(),
    }),
    result: pushMirror,
    success: [200, 201],
    retry: 'keyless',
    summary: 'Add a push mirror; no duplicate check, an empty interval is refused',
  }),
  listPushMirrors: get('/repos/{owner}/{repo}/push_mirrors', {
    n: 19,
    query: paging,
    result: listOf(pushMirror),
    summary: 'List the push mirrors of a repository',
  }),
  getPushMirror: get('/repos/{owner}/{repo}/push_mirrors/{name}', {
    result: pushMirror,
    summary: 'Get a push mirror by the name of its remote',
  }),
  deletePushMirror: del('/repos/{owner}/{repo}/push_mirrors/{name}', {
    summary: 'Delete a push mirror; also answers 204 for an unknown name',
  }),
  syncPushMirrors: post('/repos/{owner}/{repo}/push_mirrors-sync', {
    result: nothing,
    success: [200],
    retry: 'absolute',
    summary: 'Push to all mirrors now; runs while the caller waits',
  }),
} as const;
