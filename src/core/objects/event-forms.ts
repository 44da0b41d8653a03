import { z } from 'zod';
import { user } from './accounts.js';
import { anything, flag, id, int, listOf, text, time, words } from './base.js';
import { repository } from './repositories.js';
import { actionTask, run, workflowJob } from './workflows.js';

/** Objects as events tell them, where that is not as the API answers them. Nothing is read by these schemas: the shapes in `events/` ask for less. */

export const eventRepository = repository.omit({ permissions: true }).extend({ owner: text, parent: anything });

const taskStatus = words('queued', 'waiting', 'in_progress', 'completed');
export const eventTask = workflowJob
  .extend(actionTask.shape)
  .omit({ id: true })
  .extend({ job_id: id, status: taskStatus, task_id: id, workflow_id: id });

export const runPull = z.looseObject({ base: anything, head: anything, id, number: int, url: text });
export const eventRun = run.omit({ repository: true }).extend({
  ScheduleID: int,
  approved_by: int,
  commit_sha: text,
  created: time,
  duration: int,
  index_in_repo: int,
  is_fork_pull_request: flag,
  is_ref_deleted: flag,
  need_approval: flag,
  prettyref: text,
  pull_requests: listOf(runPull),
  started: time,
  stopped: time,
  title: text,
  trigger_event: text,
  trigger_user: user,
  updated: time,
  workflow_id: id,
});

export const eventWorkflow = z.looseObject({
  badge_url: text,
  created_at: time,
  deleted_at: time,
  html_url: text,
  id,
  name: text,
  path: text,
  state: text,
  updated_at: time,
  url: text,
});

export const eventStatus = z.looseObject({
  context: text,
  created_at: time,
  description: text,
  id,
  sha: text,
  state: text,
  target_url: text,
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
