import {
  type RunState,
  type World,
  type Repository,
  type WorkflowJob,
  ACTIONS_USER,
  type User,
  type Commit,
} from '../world.js';
import type { WorkflowRun } from '../entities/run.js';
import { statusesOf, makeStatus } from './status.js';
import type { JobPlan, Workflow } from '../workflows/read-workflow.js';

const ENDED: readonly RunState[] = ['success', 'failure', 'cancelled', 'skipped'];

export function isEnded(state: RunState): boolean {
  return ENDED.includes(state);
}

/** Runs of these events set a status on their commit; a dispatched one does not. */
const WITH_STATUS = ['push', 'pull_request', 'release', 'schedule'];

/** The commit status that shows how a job stands. */
export function tellStatus(world: World, repo: Repository, run: WorkflowRun, job: WorkflowJob): void {
  if (!WITH_STATUS.includes(run.event)) return;
  const { state, description } = statusOf(world, job);
  const context = `${run.workflowName} / ${job.name} (${run.event})`;
  const last = statusesOf(world, repo, run.headSha).find((one) => one.context === context);
  if (last?.state === state && world.quirks.jobStatus.sameState === 'left out') return;
  makeStatus(world, ACTIONS_USER, repo, {
    sha: run.headSha,
    context,
    state,
    description,
    targetUrl: `/${world.ownerOf(repo).login}/${repo.name}${runPath(world, run, job)}`,
  });
}

function statusOf({ quirks }: World, job: WorkflowJob): { state: string; description: string } {
  const seconds = `${Math.max(0, job.stoppedAt - job.startedAt)}s`;
  switch (job.state) {
    case 'waiting':
      return { state: 'pending', description: 'Waiting to run' };
    case 'blocked':
      return { state: 'pending', description: 'Blocked by required conditions' };
    case 'running':
      return { state: 'pending', description: quirks.jobStatus.running };
    case 'success':
      return { state: 'success', description: `Successful in ${seconds}` };
    case 'failure':
      return { state: 'failure', description: `Failing after ${seconds}` };
    case 'cancelled':
      return { state: 'failure', description: `Has been cancelled` };
    case 'skipped':
      return { state: 'skipped', description: 'Has been skipped' };
  }
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
      name: name ?? world.quirks.steps.namePrefix + does,
      state: 'waiting',
      startedAt: 0,
      stoppedAt: 0,
    })),
  });
}

function putJob(
  world: World,
  run: WorkflowRun,
  job: Omit<WorkflowJob, 'id' | 'runId' | 'attempt' | 'createdAt'>,
): WorkflowJob {
  const stored: WorkflowJob = {
    id: world.nextId('job'),
    runId: run.id,
    attempt: run.attempt,
    createdAt: world.now(),
    ...job,
  };
  return world.add('job', world.jobs, stored);
}

/** Jobs of an attempt, in the order of the file. */
export function jobsOf(world: World, run: WorkflowRun, attempt = run.attempt): WorkflowJob[] {
  return [...world.jobs.values()].filter((job) => job.runId === run.id && job.attempt === attempt);
}

type RunWish = Pick<WorkflowRun, 'event' | 'title' | 'ref' | 'headSha'> & { workflow: Workflow };

/** A run with its jobs: those that need none wait for a runner, the others are blocked. */
export function makeRun(world: World, by: User, repo: Repository, { workflow, ...rest }: RunWish): WorkflowRun {
  repo.lastRunNumber += 1;
  const run: WorkflowRun = {
    id: world.nextId('run'),
    repoId: repo.id,
    number: repo.lastRunNumber,
    attempt: 1,
    workflowId: workflow.id,
    workflowName: workflow.name,
    ...rest,
    actorId: by.id,
    triggerActorId: by.id,
    state: 'waiting',
    createdAt: world.now(),
    updatedAt: world.now(),
    startedAt: 0,
    stoppedAt: 0,
  };
  world.add('run', world.runs, run);
  const jobs = workflow.jobs.map((plan) => makeJob(world, run, plan));
  tellRequested(world, by, repo, run, jobs);
  return run;
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
export function rerunJobs(
  world: World,
  by: User,
  repo: Repository,
  run: WorkflowRun,
  wanted: readonly WorkflowJob[],
): void {
  const again = withDependents(jobsOf(world, run), wanted);
  const isNew = world.quirks.rerun === 'new attempt';
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
    return putJob(world, run, {
      ...job,
      state: isBlocked ? 'blocked' : 'waiting',
      taskId: null,
      startedAt: 0,
      stoppedAt: 0,
    });
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

/** Where a run, or a job of it, is shown to people, below the repository's address. */
export function runPath(world: World, run: WorkflowRun, job?: WorkflowJob): string {
  const isById = world.quirks.runLinks === 'by id';
  const path = `/actions/runs/${isById ? run.id : run.number}`;
  if (!job) return path;
  return `${path}/jobs/${isById ? job.id : jobsOf(world, run, job.attempt).findIndex((one) => one.id === job.id)}`;
}

/** First line of the message. */
export function titleOf(commit: Commit): string {
  return commit.message.split('\n')[0] ?? '';
}
