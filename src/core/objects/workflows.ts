import { z } from 'zod';
import { user } from './accounts.js';
import { id, int, listOf, text, texts, time } from './base.js';
import { fromForgejoRun } from './forgejo-run.js';
import { repository } from './repositories.js';

export const workflowStep = z.looseObject({
  completed_at: time,
  conclusion: text,
  name: text,
  number: int,
  started_at: time,
  status: text,
});

/** `ActionWorkflowJob` of the forge's API. */
export const workflowJob = z.looseObject({
  completed_at: time,
  conclusion: text,
  created_at: time,
  head_branch: text,
  head_sha: text,
  html_url: text,
  id,
  labels: texts,
  name: text,
  run_attempt: int,
  run_id: id,
  run_url: text,
  runner_id: id,
  runner_name: text,
  started_at: time,
  status: text,
  steps: listOf(workflowStep).optional(),
  url: text,
});

/** `WorkflowJobsList` of the forge's API. */
export const workflowJobs = z.looseObject({ jobs: listOf(workflowJob).optional(), total_count: int });

/** `ActionTask` of the forge's API: one job that a runner picked up. Read only the path of `url`. */
export const actionTask = z.looseObject({
  created_at: time,
  display_title: text,
  event: text,
  head_branch: text,
  head_sha: text,
  id,
  name: text,
  run_number: int,
  run_started_at: time,
  status: text,
  updated_at: time,
  url: text,
  workflow_id: text,
});

/** `TasksList` of the forge's API. */
export const actionTasks = z.looseObject({ total_count: int, workflow_runs: listOf(actionTask).optional() });

/** recordings, actions-runs: one run, or one attempt of it; Forgejo's form of it is read under the same names. */
export const run = z.looseObject({
  actor: user.nullish(),
  completed_at: time,
  conclusion: text,
  display_title: text,
  event: text,
  head_branch: text,
  head_sha: text,
  html_url: text,
  id,
  path: text,
  previous_attempt_url: text,
  repository: repository.nullish(),
  run_attempt: int,
  run_number: int,
  started_at: time,
  status: text,
  trigger_actor: user.nullish(),
  url: text,
});
export const workflowRun = z.preprocess(fromForgejoRun, run);
export type WorkflowRun = z.output<typeof workflowRun>;

export const workflowRuns = z.looseObject({ total_count: int, workflow_runs: listOf(workflowRun).optional() });

/** Ids of the run that a dispatch started; undefined where the server tells none (204). */
export const dispatched = z.looseObject({ html_url: text, run_url: text, workflow_run_id: id }).optional();
