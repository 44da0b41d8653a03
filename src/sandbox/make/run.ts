import type { Repository, User, WorkflowJob, WorkflowRun, World } from '../world.js';
import type { JobPlan, Workflow } from '../workflows/read-workflow.js';
import { tellStatus } from './job.js';
import { jobsOf } from './run-jobs.js';

export interface RunWish {
  workflow: Workflow;
  event: string;
  title: string;
  /** Full ref. */
  ref: string;
  headSha: string;
}

/** A run with its jobs: those that need none wait for a runner, the others are blocked. */
export function makeRun(world: World, by: User, repo: Repository, wish: RunWish): WorkflowRun {
  repo.lastRunNumber += 1;
  const run: WorkflowRun = {
    id: world.nextId('run'),
    repoId: repo.id,
    number: repo.lastRunNumber,
    attempt: 1,
    workflowId: wish.workflow.id,
    workflowName: wish.workflow.name,
    event: wish.event,
    title: wish.title,
    ref: wish.ref,
    headSha: wish.headSha,
    actorId: by.id,
    triggerActorId: by.id,
    state: 'waiting',
    createdAt: world.now(),
    updatedAt: world.now(),
    startedAt: 0,
    stoppedAt: 0,
  };
  world.runs.set(run.id, run);
  world.changed('run', run.id, 'created');
  const jobs = wish.workflow.jobs.map((plan) => makeJob(world, run, plan));
  tellRequested(world, by, repo, run, jobs);
  return run;
}

function makeJob(world: World, run: WorkflowRun, plan: JobPlan): WorkflowJob {
  return putJob(world, run, {
    key: plan.key,
    name: plan.name,
    needs: [...plan.needs],
    runsOn: [...plan.runsOn],
    state: plan.needs.length > 0 ? 'blocked' : 'waiting',
    taskId: null,
    startedAt: 0,
    stoppedAt: 0,
    steps: plan.steps.map(({ name, does }, number) => ({
      number,
      name: name ?? world.habits.steps.namePrefix + does,
      state: 'waiting',
      startedAt: 0,
      stoppedAt: 0,
    })),
  });
}

function putJob(world: World, run: WorkflowRun, job: Omit<WorkflowJob, 'id' | 'runId' | 'attempt' | 'createdAt'>): WorkflowJob {
  const stored: WorkflowJob = { id: world.nextId('job'), runId: run.id, attempt: run.attempt, createdAt: world.now(), ...job };
  world.jobs.set(stored.id, stored);
  world.changed('job', stored.id, 'created');
  return stored;
}

function tellRequested(world: World, by: User, repo: Repository, run: WorkflowRun, jobs: readonly WorkflowJob[]): void {
  for (const job of jobs) tellStatus(world, repo, run, job);
  world.happened(by, { kind: 'run.requested', repo, run });
  for (const job of jobs) {
    if (job.state === 'waiting') world.happened(by, { kind: 'job.queued', repo, run, job, task: null });
    if (job.state === 'blocked') world.happened(by, { kind: 'job.waiting', repo, run, job, task: null });
  }
}

/** What failed (and what needed it) runs again. */
export function rerunFailedJobs(world: World, by: User, repo: Repository, run: WorkflowRun): void {
  const failed = jobsOf(world, run).filter((job) => job.state !== 'success');
  rerunJobs(world, by, repo, run, failed);
}

/** These jobs, and all that need them, run again: as new jobs of a new attempt, or as the same jobs started over. */
export function rerunJobs(world: World, by: User, repo: Repository, run: WorkflowRun, wanted: readonly WorkflowJob[]): void {
  const again = withDependents(jobsOf(world, run), wanted);
  const isNew = world.habits.rerun === 'new attempt';
  const jobs = isNew ? jobsOfNewAttempt(world, by, run, again) : startOver(world, run, again);
  run.state = 'waiting';
  run.startedAt = 0;
  run.stoppedAt = 0;
  run.updatedAt = world.now();
  world.changed('run', run.id, 'updated');
  tellRequested(
    world,
    by,
    repo,
    run,
    jobs.filter((job) => again.has(job.key)),
  );
}

function withDependents(jobs: readonly WorkflowJob[], wanted: readonly WorkflowJob[]): Set<string> {
  const keys = new Set(wanted.map((job) => job.key));
  for (let size = -1; size !== keys.size;) {
    size = keys.size;
    for (const job of jobs) if (job.needs.some((key) => keys.has(key))) keys.add(job.key);
  }
  return keys;
}

/** What does not run again is taken over as it ended. */
function jobsOfNewAttempt(world: World, by: User, run: WorkflowRun, again: ReadonlySet<string>): WorkflowJob[] {
  const before = jobsOf(world, run);
  run.attempt += 1;
  run.triggerActorId = by.id;
  return before.map(({ id: _id, runId: _run, attempt: _attempt, createdAt: _created, ...job }) => {
    if (!again.has(job.key)) return putJob(world, run, job);
    const isBlocked = job.needs.some((key) => again.has(key));
    return putJob(world, run, { ...job, state: isBlocked ? 'blocked' : 'waiting', taskId: null, startedAt: 0, stoppedAt: 0 });
  });
}

function startOver(world: World, run: WorkflowRun, again: ReadonlySet<string>): WorkflowJob[] {
  const jobs = jobsOf(world, run);
  for (const job of jobs) {
    if (!again.has(job.key)) continue;
    const isBlocked = job.needs.some((key) => again.has(key));
    Object.assign(job, { state: isBlocked ? 'blocked' : 'waiting', taskId: null, startedAt: 0, stoppedAt: 0 });
    world.changed('job', job.id, 'updated');
  }
  return jobs;
}
