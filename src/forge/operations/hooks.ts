import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf, secretInput } from '../../core/objects/base.js';
import { hook } from '../../core/objects/repositories.js';
import { paging } from './params.js';

const { del, get, patch, post } = operationsOf('organization');

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
    summary: "List an organization's webhooks",
  }),
  createOrgHook: post('/orgs/{org}/hooks', {
    body: z.strictObject({ type: z.string(), config: z.record(z.string(), secretInput), ...settings }),
    result: hook,
    retry: 'keyless',
    summary: 'Create a webhook of an organization; not active unless said so',
  }),
  getOrgHook: get('/orgs/{org}/hooks/{id}', { result: hook, summary: 'Get a webhook of an organization' }),
  updateOrgHook: patch('/orgs/{org}/hooks/{id}', {
    body: z.strictObject({ config: z.record(z.string(), secretInput).optional(), ...settings }),
    result: hook,
    summary: 'Change a webhook; omitted events, filter and authorization header are reset by the server',
  }),
  deleteOrgHook: del('/orgs/{org}/hooks/{id}', { summary: 'Delete a webhook of an organization' }),
} as const;
