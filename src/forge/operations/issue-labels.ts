import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { label } from '../../core/objects/tracker.js';

const { del, get, post, put } = operationsOf('issue');

/** All ids or all names; servers refuse a mix and drop unknown ones silently. */
const labels = z.strictObject({
  labels: z.union([z.array(z.union([z.int(), z.bigint()]).transform(BigInt)), z.array(z.string())]),
});

export const issueLabelOperations = {
  listIssueLabels: get('/repos/{owner}/{repo}/issues/{index}/labels', {
    result: listOf(label),
    summary: 'List the labels on an issue or pull request',
  }),
  addIssueLabels: post('/repos/{owner}/{repo}/issues/{index}/labels', {
    body: labels,
    result: listOf(label),
    success: [200],
    retry: 'absolute',
    summary: 'Put labels on an issue; answers all labels it has now',
  }),
  replaceIssueLabels: put('/repos/{owner}/{repo}/issues/{index}/labels', {
    body: labels,
    result: listOf(label),
    success: [200],
    summary: 'Replace all labels of an issue; unknown names alone remove every label',
  }),
  removeIssueLabel: del('/repos/{owner}/{repo}/issues/{index}/labels/{id}', { summary: 'Take one label off an issue' }),
  clearIssueLabels: del('/repos/{owner}/{repo}/issues/{index}/labels', { summary: 'Take all labels off an issue' }),
} as const;
