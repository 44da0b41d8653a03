import type { Id, Seconds } from '../basics.js';
/** Internal states of runs, jobs and tasks. */
export type RunState = 'waiting' | 'blocked' | 'running' | 'success' | 'failure' | 'cancelled' | 'skipped';

export interface WorkflowRun {
  id: Id;
  repoId: Id;
  /** In this repository, from 1. */
  number: number;
  /** From 1; a rerun makes the next. */
  attempt: number;
  /** File name. */
  workflowId: string;
  /** `name:` of the file, or the file name. */
  workflowName: string;
  event: string;
  title: string;
  /** Full ref. */
  ref: string;
  headSha: string;
  actorId: Id;
  triggerActorId: Id;
  state: RunState;
  createdAt: Seconds;
  updatedAt: Seconds;
  startedAt: Seconds;
  stoppedAt: Seconds;
}

export interface WorkflowJob {
  id: Id;
  runId: Id;
  attempt: number;
  /** Key below `jobs:`. */
  key: string;
  name: string;
  needs: string[];
  runsOn: string[];
  state: RunState;
  /** The task that executes it; null while no runner picked it up. */
  taskId: Id | null;
  createdAt: Seconds;
  startedAt: Seconds;
  stoppedAt: Seconds;
  steps: WorkflowStep[];
}

export interface WorkflowStep {
  number: number;
  name: string;
  state: RunState;
  startedAt: Seconds;
  stoppedAt: Seconds;
}

/** One execution of one job by one runner. */
export interface Task {
  id: Id;
  jobId: Id;
  repoId: Id;
  runnerId: Id;
  state: RunState;
  createdAt: Seconds;
  startedAt: Seconds;
  updatedAt: Seconds;
  stoppedAt: Seconds;
}

export interface Runner {
  id: Id;
  name: string;
  /** `instance`, an owner's name or `owner/name`. */
  scope: string;
  labels: string[];
}
