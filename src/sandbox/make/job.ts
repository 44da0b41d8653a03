import type { Repository, Runner, RunState, Task, User, WorkflowJob, WorkflowRun, World } from '../world.js';
import { ACTIONS_USER } from './actions-user.js';
import { jobsOf, runPath } from './run-jobs.js';
import { makeStatus, statusesOf } from './status.js';

/** How a job can end. */
export type JobResult = 'success' | 'failure' | 'cancelled';

const ENDED: readonly RunState[] = ['success', 'failure', 'cancelled', 'skipped'];

export function isEnded(state: RunState): boolean {
  return ENDED.includes(state);
}

/** The oldest waiting job that the runner may take; undefined when there is none. */
export function waitingJob(world: World, runner: Runner, of?: Repository): WorkflowJob | undefined {
  const isMeant = (job: WorkflowJob): boolean => {
    const repo = world.repo(runOf(world, job).repoId);
    return (of === undefined || repo === of) && serves(world, runner, repo) && job.runsOn.every((label) => runner.labels.includes(label));
  };
  return [...world.jobs.values()].filter((job) => job.state === 'waiting' && isMeant(job)).sort((a, b) => Number(a.id - b.id))[0];
}

function serves(world: World, { scope }: Runner, repo: Repository): boolean {
  const owner = world.ownerOf(repo).login;
  return scope === '' || scope === 'instance' || [owner, `${owner}/${repo.name}`].includes(scope);
}

function runOf(world: World, job: WorkflowJob): WorkflowRun {
  const run = world.runs.get(job.runId);
  if (!run) throw new Error(`no run ${job.runId}`);
  return run;
}

/** Who started this attempt. */
function actorOf(world: World, run: WorkflowRun): User {
  const owner = world.owners.get(run.triggerActorId);
  return owner?.kind === 'user' ? owner : ACTIONS_USER;
}

/** The runner takes the job: a task begins. */
export function claimJob(world: World, runner: Runner, job: WorkflowJob): Task {
  const run = runOf(world, job);
  const repo = world.repo(run.repoId);
  const task: Task = {
    id: world.nextId('task'),
    jobId: job.id,
    repoId: repo.id,
    runnerId: runner.id,
    state: 'running',
    createdAt: world.now(),
    startedAt: world.now(),
    updatedAt: world.now(),
    stoppedAt: 0,
  };
  world.tasks.set(task.id, task);
  world.changed('task', task.id, 'created');
  job.taskId = task.id;
  job.startedAt = world.now();
  setJobState(world, job, 'running');
  const isFirst = run.state !== 'running';
  run.state = 'running';
  if (run.startedAt === 0) run.startedAt = world.now();
  tellStatus(world, repo, run, job);
  world.happened(actorOf(world, run), { kind: 'job.started', repo, run, job, task });
  if (isFirst) world.happened(actorOf(world, run), { kind: 'run.started', repo, run });
  return task;
}

/** The task ends; jobs that needed it are set free or skipped, and with the last job the run ends. */
export function finishTask(world: World, task: Task, result: JobResult): void {
  const job = world.jobs.get(task.jobId);
  if (!job) throw new Error(`no job ${task.jobId}`);
  const run = runOf(world, job);
  const repo = world.repo(run.repoId);
  task.state = result;
  task.updatedAt = task.stoppedAt = world.now();
  job.stoppedAt = world.now();
  world.changed('task', task.id, 'updated');
  setJobState(world, job, result);
  tellStatus(world, repo, run, job);
  world.happened(actorOf(world, run), { kind: 'job.finished', repo, run, job, task });
  settleDependents(world, repo, run);
  settleRun(world, repo, run);
}

function setJobState(world: World, job: WorkflowJob, state: RunState): void {
  job.state = state;
  if (world.habits.steps.follow && job.taskId !== null) for (const step of job.steps) step.state = state;
  world.changed('job', job.id, 'updated');
}

/** Blocked jobs whose needs have all ended: set free when all went well, else skipped (and so on, for those who need them). */
function settleDependents(world: World, repo: Repository, run: WorkflowRun): void {
  const jobs = jobsOf(world, run);
  for (const job of jobs) {
    if (job.state !== 'blocked') continue;
    const needs = jobs.filter((other) => job.needs.includes(other.key));
    if (!needs.every((other) => isEnded(other.state))) continue;
    const isFree = needs.every((other) => other.state === 'success');
    setJobState(world, job, isFree ? 'waiting' : 'skipped');
    if (!isFree) job.stoppedAt = world.now();
    tellStatus(world, repo, run, job);
    world.happened(actorOf(world, run), { kind: isFree ? 'job.queued' : 'job.finished', repo, run, job, task: null });
  }
}

function settleRun(world: World, repo: Repository, run: WorkflowRun): void {
  const states = jobsOf(world, run).map((job) => job.state);
  if (!states.every(isEnded)) return;
  run.state = (['failure', 'cancelled', 'success'] as const).find((state) => states.includes(state)) ?? 'skipped';
  run.stoppedAt = run.updatedAt = world.now();
  world.changed('run', run.id, 'updated');
  world.happened(actorOf(world, run), { kind: 'run.finished', repo, run });
}

/** Runs of these events set a status on their commit; a dispatched one does not. */
const WITH_STATUS = ['push', 'pull_request', 'release', 'schedule'];

/** The commit status that shows how a job stands. */
export function tellStatus(world: World, repo: Repository, run: WorkflowRun, job: WorkflowJob): void {
  if (!WITH_STATUS.includes(run.event)) return;
  const { state, description } = shown(world, job);
  const context = `${run.workflowName} / ${job.name} (${run.event})`;
  const last = statusesOf(world, repo, run.headSha).find((one) => one.context === context);
  if (last?.state === state && world.habits.jobStatus.sameState === 'left out') return;
  makeStatus(world, ACTIONS_USER, repo, {
    sha: run.headSha,
    context,
    state,
    description,
    targetUrl: `/${world.ownerOf(repo).login}/${repo.name}${runPath(world, run, job)}`,
  });
}

function shown({ habits }: World, job: WorkflowJob): { state: string; description: string } {
  const seconds = `${Math.max(0, job.stoppedAt - job.startedAt)}s`;
  switch (job.state) {
    case 'waiting':
      return { state: 'pending', description: 'Waiting to run' };
    case 'blocked':
      return { state: 'pending', description: 'Blocked by required conditions' };
    case 'running':
      return { state: 'pending', description: habits.jobStatus.running };
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
