import { z } from 'zod';
import { del, get, patch, post } from '../define-operation.js';
import { listOf, secretInput } from '../../core/objects/base.js';
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
  listOrgHooks: get('/orgs/{org}/hooks', {
    n: 3,
    query: paging,
    result: listOf(hook),
    scope: 'organization',
    summary: "List an organization's webhooks",
  }),
  createOrgHook: post('/orgs/{org}/hooks', {
    body: z.strictObject({ type: z.string(), config: z.record(z.string(), secretInput), ...settings }),
    result: hook,
    scope: 'organization',
    retry: 'keyless',
    summary: 'Create a webhook of an organization; not active unless said so',
  }),
  getOrgHook: get('/orgs/{org}/hooks/{id}', {
    result: hook,
    scope: 'organization',
    summary: 'Get a webhook of an organization',
  }),
  updateOrgHook: patch('/orgs/{org}/hooks/{id}', {
    body: z.strictObject({ config: z.record(z.string(), secretInput).optional(), ...settings }),
    result: hook,
    scope: 'organization',
    summary: 'Change a webhook; omitted events, filter and authorization header are reset by the server',
  }),
  deleteOrgHook: del('/orgs/{org}/hooks/{id}', {
    scope: 'organization',
    summary: 'Delete a webhook of an organization',
  }),
} as const;
