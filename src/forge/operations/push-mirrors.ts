import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing, secretInput } from '../../core/objects/base.js';
import { pushMirror } from '../../core/objects/repositories.js';
import { paging } from './params.js';

export const pushMirrorOperations = {
  createPushMirror: defineOperation({
    n: 7,
    method: 'POST',
    path: '/repos/{owner}/{repo}/push_mirrors',
    body: z.strictObject({
      interval: z.string().optional(),
      remote_address: z.string().optional(),
      remote_password: secretInput.optional(),
      remote_username: z.string().optional(),
      sync_on_commit: z.boolean().optional(),
    }),
    result: pushMirror,
    success: [200, 201],
    scope: 'repository',
    retry: 'keyless',
    summary: 'Add a push mirror; no duplicate check, an empty interval is refused',
  }),
  listPushMirrors: defineOperation({
    n: 19,
    method: 'GET',
    path: '/repos/{owner}/{repo}/push_mirrors',
    query: paging,
    result: listOf(pushMirror),
    success: [200],
    scope: 'repository',
    retry: 'read',
    paged: true,
    summary: 'List the push mirrors of a repository',
  }),
  getPushMirror: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/push_mirrors/{name}',
    result: pushMirror,
    success: [200],
    scope: 'repository',
    retry: 'read',
    summary: 'Get a push mirror by the name of its remote',
  }),
  deletePushMirror: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/push_mirrors/{name}',
    result: nothing,
    success: [204],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Delete a push mirror; also answers 204 for an unknown name',
  }),
  syncPushMirrors: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/push_mirrors-sync',
    result: nothing,
    success: [200],
    scope: 'repository',
    retry: 'absolute',
    summary: 'Push to all mirrors now; runs while the caller waits',
  }),
} as const;
