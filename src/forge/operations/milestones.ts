import { z } from 'zod';
import { defineOperation } from '../define-operation.js';
import { listOf, nothing } from '../../core/objects/base.js';
import { milestone } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const fields = z.strictObject({
  description: z.string().optional(),
  due_on: z.iso.datetime({ offset: true }).optional(),
  state: z.enum(['open', 'closed']).optional(),
  title: z.string().optional(),
});

export const milestoneOperations = {
  createMilestone: defineOperation({
    n: 18,
    method: 'POST',
    path: '/repos/{owner}/{repo}/milestones',
    body: fields,
    result: milestone,
    success: [201],
    scope: 'issue',
    retry: 'keyless',
    summary: 'Create a milestone; servers accept a second one of the same title',
  }),
  listMilestones: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/milestones',
    query: {
      state: { type: 'string', summary: 'open, closed or all; servers default to open' },
      name: { type: 'string', summary: 'part of the title, without regard to case' },
      ...paging,
    },
    result: listOf(milestone),
    success: [200],
    scope: 'issue',
    retry: 'read',
    paged: true,
    summary: 'List the milestones of a repository',
  }),
  getMilestone: defineOperation({
    method: 'GET',
    path: '/repos/{owner}/{repo}/milestones/{id}',
    result: milestone,
    success: [200],
    scope: 'issue',
    retry: 'read',
    summary: 'Get a milestone by number or title',
  }),
  updateMilestone: defineOperation({
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/milestones/{id}',
    body: fields,
    result: milestone,
    success: [200],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Change a milestone; an omitted due_on clears the date',
  }),
  deleteMilestone: defineOperation({
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/milestones/{id}',
    result: nothing,
    success: [204],
    scope: 'issue',
    retry: 'absolute',
    summary: 'Delete a milestone by number or title',
  }),
} as const;
