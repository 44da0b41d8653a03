import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { label } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const { del, get, patch, post } = operationsOf('issue');

const optional = {
  description: z.string().optional(),
  exclusive: z.boolean().optional(),
  is_archived: z.boolean().optional(),
};
const created = z.strictObject({ color: z.string(), name: z.string(), ...optional });
const changed = z.strictObject({ color: z.string().optional(), name: z.string().optional(), ...optional });

export const labelOperations = {
  createLabel: post('/repos/{owner}/{repo}/labels', {
    n: 15,
    body: created,
    result: label,
    retry: 'keyless',
    summary: 'Create a label; servers accept a second one of the same name',
  }),
  listLabels: get('/repos/{owner}/{repo}/labels', {
    query: paging,
    result: listOf(label),
    summary: "List a repository's own labels by name",
  }),
  getLabel: get('/repos/{owner}/{repo}/labels/{id}', { result: label, summary: 'Get a label' }),
  updateLabel: patch('/repos/{owner}/{repo}/labels/{id}', {
    body: changed,
    result: label,
    summary: 'Change given fields of a label; an omitted is_archived un-archives it',
  }),
  deleteLabel: del('/repos/{owner}/{repo}/labels/{id}', {
    summary: 'Delete a label; also answers 204 when it is not there',
  }),
  listOrgLabels: get('/orgs/{org}/labels', {
    query: paging,
    result: listOf(label),
    scope: 'organization',
    summary: "List an organization's labels, usable in all its repositories",
  }),
  createOrgLabel: post('/orgs/{org}/labels', {
    body: created,
    result: label,
    scope: 'organization',
    retry: 'keyless',
    summary: 'Create a label of an organization',
  }),
  updateOrgLabel: patch('/orgs/{org}/labels/{id}', {
    body: changed,
    result: label,
    scope: 'organization',
    summary: "Change given fields of an organization's label; an omitted is_archived un-archives it",
  }),
  deleteOrgLabel: del('/orgs/{org}/labels/{id}', {
    scope: 'organization',
    summary: 'Delete a label of an organization',
  }),
} as const;
