import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf } from '../../core/objects/base.js';
import { milestone } from '../../core/objects/tracker.js';
import { paging } from './params.js';

const { del, get, patch, post } = operationsOf('issue');

const fields = z.strictObject({
  description: z.string().optional(),
  due_on: z.iso.datetime({ offset: true }).optional(),
  state: z.enum(['open', 'closed']).optional(),
  title: z.string().optional(),
});

export const milestoneOperations = {
  createMilestone: post('/repos/{owner}/{repo}/milestones', {
    n: 18,
    body: fields,
    result: milestone,
    retry: 'keyless',
    summary: 'Create a milestone; servers accept a second one of the same title',
  }),
  listMilestones: get('/repos/{owner}/{repo}/milestones', {
    query: {
      state: { type: 'string', summary: 'open, closed or all; servers default to open' },
      name: { type: 'string', summary: 'part of the title, without regard to case' },
      ...paging,
    },
    result: listOf(milestone),
    summary: 'List the milestones of a repository',
  }),
  getMilestone: get('/repos/{owner}/{repo}/milestones/{id}', {
    result: milestone,
    summary: 'Get a milestone by number or title',
  }),
  updateMilestone: patch('/repos/{owner}/{repo}/milestones/{id}', {
    body: fields,
    result: milestone,
    summary: 'Change a milestone; an omitted due_on clears the date',
  }),
  deleteMilestone: del('/repos/{owner}/{repo}/milestones/{id}', { summary: 'Delete a milestone by number or title' }),
} as const;
