import type { actionTask, workflowJob as apiWorkflowJob } from '../../core/objects/workflows.js';
import { type Answer, notFound, unprocessable } from '../answer.js';
import { doer, forUser, onOrganization, onRepository, readId } from '../guards.js';
import { shaped, type Shown, type View } from '../render/view.js';
import { counted } from '../paging.js';
import type { Call, Handlers } from '../handler.js';
import { ACTIONS_USER, type Repository, type RunState, type User, type WorkflowRun, type World } from '../world.js';
import { fullName, repoApiUrl, repoWebUrl } from './repository.js';
import type { Runner, WorkflowJob, Task } from '../entities/run.js';
import {
  attemptOf,
  displayRef,
  endedRun,
  headBranch,
  ofOrganization,
  runNamed,
  runsIn,
  runWebUrl,
  utc,
  wantedStates,
  shownState,
  pickStatus,
} from './run-view.js';
import { rerunJobs, runPath, isEnded, tellStatus, jobsOf } from './run-start.js';

const read = { units: ['repo.actions'] } as const;
const write = { ...read, level: 'write' } as const;

/** How a job can end. */
export type JobResult = 'success' | 'failure' | 'cancelled';

/** The oldest waiting job that the runner may take; undefined when there is none. */
export function waitingJob(world: World, runner: Runner, of?: Repository): WorkflowJob | undefined {
  const isMeant = (job: WorkflowJob): boolean => {
    const repo = world.repo(runOf(world, job).repoId);
    return (
      (of === undefined || repo === of) &&
      serves(world, runner, repo) &&
      job.runsOn.every((label) => runner.labels.includes(label))
    );
  };
  return [...world.jobs.values()]
    .filter((job) => job.state === 'waiting' && isMeant(job))
    .sort((a, b) => Number(a.id - b.id))[0];
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
  world.add('task', world.tasks, task);
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
  if (world.quirks.steps.follow && job.taskId !== null) for (const step of job.steps) step.state = state;
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

export function renderJob(view: View, job: WorkflowJob): Shown<typeof apiWorkflowJob> {
  const { world } = view;
  const run = world.runs.get(job.runId);
  if (!run) throw new Error(`no run ${job.runId}`);
  const repo = world.repo(run.repoId);
  const task = job.taskId === null ? undefined : world.tasks.get(job.taskId);
  const runner = task && world.runners.get(task.runnerId);
  return shaped(view, 'job', {
    id: job.id,
    url: repoApiUrl(view, repo, `/actions/jobs/${job.id}`),
    html_url: repoWebUrl(view, repo, runPath(world, run, job)),
    run_id: run.id,
    run_url: repoApiUrl(view, repo, `/actions/runs/${run.id}`),
    name: job.name,
    labels: job.runsOn,
    run_attempt: view.profile.workflows.jobAttempt === 'claims' ? claimsOf(view, job) : job.attempt,
    head_sha: run.headSha,
    ...headBranch(run.ref),
    ...(job.state === 'skipped' && !view.profile.workflows.skippedConclusion
      ? pickStatus(job.state)
      : shownState(job.state)),
    ...(runner ? { runner_id: runner.id, runner_name: runner.name } : {}),
    // Steps are there once a runner has the job; a runner that tells only the job's end leaves them as they were.
    steps: task
      ? job.steps.map((step) => ({
          name: step.name,
          number: step.number,
          ...shownState(step.state),
          started_at: utc(step.startedAt),
          completed_at: utc(step.stoppedAt),
        }))
      : [],
    created_at: utc(job.createdAt),
    started_at: utc(job.startedAt),
    completed_at: utc(job.stoppedAt),
  });
}

function claimsOf({ world }: View, job: WorkflowJob): number {
  return [...world.tasks.values()].filter((task) => task.jobId === job.id).length;
}

/** A row of the task list: one execution of one job, with the state in its internal word. */
function renderTask(view: View, task: Task): Shown<typeof actionTask> {
  const { world } = view;
  const repo = world.repo(task.repoId);
  const job = world.jobs.get(task.jobId);
  const run = job && world.runs.get(job.runId);
  if (!job || !run) throw new Error(`task ${task.id} of ${fullName(view, repo)} has no run`);
  return {
    id: task.id,
    name: job.name,
    head_branch: displayRef(run.ref),
    head_sha: run.headSha,
    run_number: run.number,
    event: run.event,
    display_title: run.title,
    status: task.state,
    workflow_id: run.workflowId,
    url: runWebUrl(view, repo, run),
    created_at: utc(task.createdAt),
    updated_at: utc(task.updatedAt),
    run_started_at: utc(task.startedAt),
  };
}

function jobList(call: Call, jobs: readonly WorkflowJob[]): Answer {
  const isWanted = wantedStates(call);
  const wanted = jobs.filter((job) => isWanted(job.state));
  return counted(call, 'jobs', wanted, (job) => renderJob(call.view, job));
}

/** Of every attempt, oldest first; on some servers repository by repository. */
function jobsIn(call: Call, isMeant: (repo: Repository) => boolean): WorkflowJob[] {
  const repos = new Map(runsIn(call, isMeant).map((run) => [run.id, run.repoId]));
  const repoOf = (job: WorkflowJob): bigint =>
    call.profile.workflows.jobOrder === 'by repository' ? (repos.get(job.runId) ?? 0n) : 0n;
  return [...call.world.jobs.values()]
    .filter((job) => repos.has(job.runId))
    .sort((a, b) => Number(repoOf(a) - repoOf(b)) || Number(a.id - b.id));
}

/** Only `id` can be sorted by; `order` counts beside it only. */
function inOrder(call: Call, jobs: WorkflowJob[]): WorkflowJob[] {
  if (!call.profile.workflows.jobsSorted) return jobs;
  const [sort, order] = [call.query.get('sort') ?? '', call.query.get('order') ?? ''];
  if (sort === '') return jobs;
  if (sort !== 'id') throw unprocessable(`Invalid sort mode: "${sort}"`);
  if (!['', 'asc', 'desc'].includes(order)) throw unprocessable(`Invalid sort order: "${order}"`);
  return order === 'desc' ? jobs.reverse() : jobs;
}

export const jobHandlers: Handlers = {
  /** Only jobs of repositories that the caller's own account owns. */
  listMyJobs: forUser((call) =>
    jobList(
      call,
      inOrder(
        call,
        jobsIn(call, (repo) => repo.ownerId === call.user.id),
      ),
    ),
  ),
  listJobsOfAttempt: onRepository(read, (call) => {
    const run = runNamed(call);
    return jobList(call, jobsOf(call.world, run, attemptOf(call, run)));
  }),
  listJobsOfRun: onRepository(read, (call) => jobList(call, jobsOf(call.world, runNamed(call)))),
  /** Newest first. */
  listActionTasks: onRepository(read, (call) => {
    const tasks = [...call.world.tasks.values()]
      .filter((task) => task.repoId === call.repo.id)
      .sort((a, b) => Number(b.id - a.id));
    return counted(call, 'workflow_runs', tasks, (task) => renderTask(call.view, task));
  }),
  listOrgJobs: onOrganization('member', (call) => jobList(call, jobsIn(call, ofOrganization(call)))),
  rerunJob: onRepository(write, (call) => {
    const run = endedRun(call);
    const job = jobsOf(call.world, run).find(({ id }) => id === readId(call.params.job));
    if (!job) throw notFound();
    rerunJobs(call.world, doer(call), call.repo, run, [job]);
    return { status: 201 };
  }),
};
