import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { label } from '../../core/objects/tracker.js';

const index = { index: 'int64' } as const;
/** All ids or all names; servers refuse a mix and drop unknown ones silently. */
const labels = z.strictObject({
  labels: z.union([z.array(z.union([z.int(), z.bigint()]).transform(BigInt)), z.array(z.string())]),
});

export const issueLabelOperations = {
  listIssueLabels: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/labels',
    pathTypes: index,
    result: listOf(label),
    success: [200],
    scope: 'issue',
    retry: 'read',
    summary: 'List the labels on an issue or pull request',
  }),
  addIssueLabels: defineOperation({
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/labels',
    pathTypes: index,
    body: labels,
    result: listOf(label),
    success: [200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Put labels on an issue; answers all labels it has now',
  }),
  replaceIssueLabels: defineOperation({
    method: 'PUT',
    path: '/repos/{owner}/{repo}/issues/{index}/labels',
    pathTypes: index,
    body: labels,
    result: listOf(label),
    success: [200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Replace all labels of an issue; unknown names alone remove every label',
  }),
  removeIssueLabel: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/labels/{id}',
    pathTypes: { ...index, id: 'int64' },
    result: nothing,
    success: [204],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Take one label off an issue',
  }),
  clearIssueLabels: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/labels',
    pathTypes: index,
    result: nothing,
    success: [204],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Take all labels off an issue',
  }),
} as const;
