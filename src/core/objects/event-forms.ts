import { z } from 'zod';
import { user } from './accounts.js';
import { anything, flag, id, int, listOf, text, time, words } from './base.js';
import { repository } from './repositories.js';
import { actionTask, run, workflowJob } from './workflows.js';
import { fields } from '../schema.js';

/** Objects as events tell them, where that is not as the API answers them. Nothing is read by these schemas: the shapes in `events/` ask for less. */

export const eventRepository = repository.omit({ permissions: true }).extend({ owner: text, parent: anything });

const taskStatus = words('queued', 'waiting', 'in_progress', 'completed');
export const eventTask = workflowJob
  .extend(actionTask.shape)
  .omit({ id: true })
  .extend({ job_id: id, status: taskStatus, task_id: id, workflow_id: id });

export const runPull = z.looseObject({ base: anything, head: anything, id, number: int, url: text });
export const eventRun = run.omit({ repository: true }).extend({
  ...fields('ScheduleID approved_by duration index_in_repo', int),
  ...fields('commit_sha prettyref title trigger_event', text),
  ...fields('created started stopped updated', time),
  ...fields('is_fork_pull_request is_ref_deleted need_approval', flag),
  pull_requests: listOf(runPull),
  trigger_user: user,
  workflow_id: id,
});

export const eventWorkflow = z.looseObject({
  ...fields('badge_url html_url name path state url', text),
  ...fields('created_at deleted_at updated_at', time),
  id,
});

export const eventStatus = z.looseObject({
  ...fields('context description sha state target_url', text),
  created_at: time,
  id,
  updated_at: time,
});

export const eventReview = z.looseObject({ body: text, content: text, reason: text, state: text, type: text, user });

export const change = z.looseObject({ from: text });
export const changes = z.looseObject({
  added_labels: anything,
  body: change,
  name: change,
  ref: change,
  removed_labels: anything,
  title: change,
});
