import { z } from 'zod';
import { user } from './accounts.js';
import { id, int, listOf, text, texts, time } from './base.js';
import { fromForgejoRun } from './forgejo-run.js';
import { repository } from './repositories.js';
import { fields } from '../schema.js';

export const workflowStep = z.looseObject({
  completed_at: time,
  ...fields('conclusion name status', text),
  number: int,
  started_at: time,
});

/** `ActionWorkflowJob` of the forge's API. */
export const workflowJob = z.looseObject({
  ...fields('completed_at created_at started_at', time),
  ...fields('conclusion head_branch head_sha html_url name run_url runner_name status url', text),
  ...fields('id run_id runner_id', id),
  labels: texts,
  run_attempt: int,
  steps: listOf(workflowStep).optional(),
});

/** `WorkflowJobsList` of the forge's API. */
export const workflowJobs = z.looseObject({ jobs: listOf(workflowJob).optional(), total_count: int });

/** `ActionTask` of the forge's API: one job that a runner picked up. Read only the path of `url`. */
export const actionTask = z.looseObject({
  ...fields('created_at run_started_at updated_at', time),
  ...fields('display_title event head_branch head_sha name status url workflow_id', text),
  id,
  run_number: int,
});

/** `TasksList` of the forge's API. */
export const actionTasks = z.looseObject({ total_count: int, workflow_runs: listOf(actionTask).optional() });

/** recordings, actions-runs: one run, or one attempt of it; Forgejo's form of it is read under the same names. */
export const run = z.looseObject({
  actor: user.nullish(),
  completed_at: time,
  ...fields('conclusion display_title event head_branch head_sha html_url path previous_attempt_url status', text),
  url: text,
  id,
  repository: repository.nullish(),
  run_attempt: int,
  run_number: int,
  started_at: time,
  trigger_actor: user.nullish(),
});
export const workflowRun = z.preprocess(fromForgejoRun, run);
export type WorkflowRun = z.output<typeof workflowRun>;

export const workflowRuns = z.looseObject({ total_count: int, workflow_runs: listOf(workflowRun).optional() });

/** Ids of the run that a dispatch started; undefined where the server tells none (204). */
export const dispatched = z.looseObject({ html_url: text, run_url: text, workflow_run_id: id }).optional();
