import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing, secretInput } from '../../core/objects/base.js';
import { hook } from '../../core/objects/repositories.js';
import { paging } from './params.js';

const settings = {
  active: z.boolean().optional(),
  authorization_header: secretInput.optional(),
  branch_filter: z.string().optional(),
  events: z.array(z.string()).optional(),
  name: z.string().optional(),
};

export const hookOperations = {
  listOrgHooks: defineOperation({
    n: 3,
    method: 'GET',
    path: '/orgs/{org}/hooks',
    query: paging,
    result: listOf(hook),
    success: [200],
    scope: 'organization',
    retry: 'read',
    paged: true,
    summary: "List an organization's webhooks",
  }),
  createOrgHook: defineOperation({
    method: 'POST',
    path: '/orgs/{org}/hooks',
    body: z.strictObject({ type: z.string(), config: z.record(z.string(), secretInput), ...settings }),
    result: hook,
    success: [201],
    scope: 'organization',
    retry: 'keyless',
    summary: 'Create a webhook of an organization; not active unless said so',
  }),
  getOrgHook: defineOperation({
    method: 'GET',
    path: '/orgs/{org}/hooks/{id}',
    pathTypes: { id: 'int64' },
    result: hook,
    success: [200],
    scope: 'organization',
    retry: 'read',
    summary: 'Get a webhook of an organization',
  }),
  updateOrgHook: defineOperation({
    method: 'PATCH',
    path: '/orgs/{org}/hooks/{id}',
    pathTypes: { id: 'int64' },
    body: z.strictObject({ config: z.record(z.string(), secretInput).optional(), ...settings }),
    result: hook,
    success: [200],
    scope: 'organization',
    retry: 'absolute',
    summary: 'Change a webhook; omitted events, filter and authorization header are reset by the server',
  }),
  deleteOrgHook: defineOperation({
    method: 'DELETE',
    path: '/orgs/{org}/hooks/{id}',
    pathTypes: { id: 'int64' },
    result: nothing,
    success: [204],
    scope: 'organization',
    retry: 'absolute',
    summary: 'Delete a webhook of an organization',
  }),
} as const;
