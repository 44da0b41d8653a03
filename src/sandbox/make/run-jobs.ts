import type { WorkflowJob, WorkflowRun, World } from '../world.js';

/** Jobs of an attempt, in the order of the file. */
export function jobsOf(world: World, run: WorkflowRun, attempt = run.attempt): WorkflowJob[] {
  return [...world.jobs.values()].filter((job) => job.runId === run.id && job.attempt === attempt);
}

/** Where a run, or a job of it, is shown to people, below the repository's address. */
export function runPath(world: World, run: WorkflowRun, job?: WorkflowJob): string {
  const isById = world.habits.runLinks === 'by id';
  const path = `/actions/runs/${isById ? run.id : run.number}`;
  if (!job) return path;
  return `${path}/jobs/${isById ? job.id : jobsOf(world, run, job.attempt).findIndex((one) => one.id === job.id)}`;
}
