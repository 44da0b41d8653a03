import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { label } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const optional = {
  description: z.string().optional(),
  exclusive: z.boolean().optional(),
  is_archived: z.boolean().optional(),
};
const created = z.strictObject({ color: z.string(), name: z.string(), ...optional });
const changed = z.strictObject({ color: z.string().optional(), name: z.string().optional(), ...optional });

export const labelOperations = {
  createLabel: defineOperation({
    n: 15,
    method: 'POST',
    path: '/repos/{owner}/{repo}/labels',
    body: created,
    result: label,
    success: [201],
    scope: 'issue',
    retry: 'keyless',
    summary: 'Create a label; servers accept a second one of the same name',
  }),
  listLabels: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/labels',
    query: paging,
    result: listOf(label),
    success: [200],
    scope: 'issue',
    retry: 'read',
    paged: true,
    summary: "List a repository's own labels by name",
  }),
  getLabel: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/labels/{id}',
    pathTypes: { id: 'int64' },
    result: label,
    success: [200],
    scope: 'issue',
    retry: 'read',
    summary: 'Get a label',
  }),
  updateLabel: defineOperation({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/labels/{id}',
    pathTypes: { id: 'int64' },
    body: changed,
    result: label,
    success: [200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Change given fields of a label; an omitted is_archived un-archives it',
  }),
  deleteLabel: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/labels/{id}',
    pathTypes: { id: 'int64' },
    result: nothing,
    success: [204],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Delete a label; also answers 204 when it is not there',
  }),
  listOrgLabels: defineOperation({
    method: 'GET',
    path: '/orgs/{org}/labels',
    query: paging,
    result: listOf(label),
    success: [200],
    scope: 'organization',
    retry: 'read',
    paged: true,
    summary: "List an organization's labels, usable in all its repositories",
  }),
  createOrgLabel: defineOperation({
    method: 'POST',
    path: '/orgs/{org}/labels',
    body: created,
    result: label,
    success: [201],
    scope: 'organization',
    retry: 'keyless',
    summary: 'Create a label of an organization',
  }),
  updateOrgLabel: defineOperation({
    method: 'PATCH',
    path: '/orgs/{org}/labels/{id}',
    pathTypes: { id: 'int64' },
    body: changed,
    result: label,
    success: [200],
    scope: 'organization',
    retry: 'absolute',
    summary: "Change given fields of an organization's label; an omitted is_archived un-archives it",
  }),
  deleteOrgLabel: defineOperation({
    method: 'DELETE',
    path: '/orgs/{org}/labels/{id}',
    pathTypes: { id: 'int64' },
    result: nothing,
    success: [204],
    scope: 'organization',
    retry: 'absolute',
    summary: 'Delete a label of an organization',
  }),
} as const;
