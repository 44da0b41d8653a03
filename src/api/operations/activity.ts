import { z } from 'zod';
import { text } from '../../core/schema.js';
import { INTENT_STATES, RUN_STATES } from '../../core/states.js';
import { activityPage, activityRow } from '../../insight/activity.js';
import { needEverything } from './admission.js';
import { flag, limit, operation } from './operation.js';

export const activityOperations = {
  activity: operation({
    route: 'GET /v1/activity',
    summary:
      'What happened, newest first: each event, schedule or order, the rules that evaluated it, and their effects',
    scope: 'read',
    command: 'activity',
    input: z.object({
      org: z.string().optional(),
      repo: z.string().min(1).max(500).optional().describe('Full name of a repository.'),
      person: z.string().min(1).max(255).optional().describe('Login of who did it.'),
      kind: z.string().min(1).max(64).optional().describe('Kind of event, or the family before its dot: `issue`.'),
      rule: z.string().min(1).max(255).optional().describe('Id of a rule or policy that evaluated it.'),
      state: z.enum(RUN_STATES).optional().describe('With a run in this state.'),
      effects: z.enum(INTENT_STATES).optional().describe('With an effect in this state.'),
      changed: flag.optional().describe('Without what changed nothing.'),
      before: z.string().max(64).optional().describe('`next` of the page before.'),
      limit: limit(50),
    }),
    answer: activityPage,
    handle: ({ orgs, activity }, filter, _caller, visibility) => {
      const { org, visibility: within, ...rest } = orgs.within(filter, visibility);
      // Runs of a rule are found by its organization.
      const names = orgs.keysOf(org, visibility);
      const isAll = org === undefined && visibility === null && rest.rule === undefined;
      return activity.page({ ...rest, orgs: isAll ? undefined : names, visibility: within });
    },
  }),
  activityNews: operation({
    route: 'GET /v1/activity/news',
    summary:
      'The newest lines of the timeline, or none if nothing has changed since a mark; one read serves many viewers',
    scope: 'read',
    command: 'activity',
    input: z.object({
      since: z.string().max(64).optional().describe('`mark` of the answer before.'),
      limit: limit(50),
    }),
    answer: z.object({
      mark: text,
      rows: z.array(activityRow).describe('Empty where nothing has changed.'),
    }),
    handle: ({ activity }, { since, limit: most }, _caller, visibility) => {
      needEverything(visibility);
      return activity.news(since, most);
    },
  }),
};
