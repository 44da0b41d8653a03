import { jobsOf, runPath } from '../make/run-jobs.js';
import type { Issue, Pull, Repository, RunState, Seconds, Task, WorkflowJob, WorkflowRun } from '../world.js';
import { fullName, renderRepository, repoApiUrl, repoWebUrl } from './repository.js';
import { shaped } from './shape.js';
import { rfc3339 } from './time.js';
import { renderUser } from './user.js';
import type { View } from './view.js';

/** Times of workflows are told in UTC, whatever the server's zone. */
function utc(at: Seconds): string {
  return rfc3339(at, 'UTC');
}

/** Internal states as jobs, runs and steps show them; an end has its own word besides. */
export function shownState(state: RunState): { status: string; conclusion?: string } {
  switch (state) {
    case 'waiting':
      return { status: 'queued' };
    case 'blocked':
      return { status: 'waiting' };
    case 'running':
      return { status: 'in_progress' };
    default:
      return { status: 'completed', conclusion: state };
  }
}

/** Left out for pull requests and tags. */
function headBranch(ref: string): { head_branch?: string } {
  return ref.startsWith('refs/heads/') ? { head_branch: ref.slice('refs/heads/'.length) } : {};
}

export function runWebUrl(view: View, repo: Repository, run: WorkflowRun): string {
  return repoWebUrl(view, repo, runPath(view.world, run));
}

export function renderJob(view: View, job: WorkflowJob): object {
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
    ...(job.state === 'skipped' && !view.profile.workflows.skippedConclusion ? pickStatus(job.state) : shownState(job.state)),
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

/** @param attempt default the newest */
export function renderRun(view: View, run: WorkflowRun, attempt = run.attempt): object {
  const { world } = view;
  const repo = world.repo(run.repoId);
  const url = repoApiUrl(view, repo, `/actions/runs/${run.id}`);
  const then = stateOfAttempt(view, run, attempt);
  return shaped(view, 'run', {
    id: run.id,
    url,
    previous_attempt_url: attempt > 1 ? `${url}/attempts/${attempt - 1}` : null,
    html_url: runWebUrl(view, repo, run),
    display_title: run.title,
    path: `${run.workflowId}@${run.ref}`,
    event: run.event,
    run_attempt: attempt,
    run_number: run.number,
    head_sha: run.headSha,
    ...headBranch(run.ref),
    ...pickStatus(then.state),
    actor: renderUser(view, world.owner(run.actorId), { asOther: true }),
    trigger_actor: renderUser(view, world.owner(attempt === run.attempt ? run.triggerActorId : run.actorId), { asOther: true }),
    repository: renderRepository(view, repo, null),
    ...pickConclusion(then.state),
    pull_requests: pullsOf(view, repo, run),
    started_at: utc(then.startedAt),
    completed_at: utc(then.stoppedAt),
  });
}

function pickStatus(state: RunState): { status: string } {
  return { status: shownState(state).status };
}

function pickConclusion(state: RunState): { conclusion?: string } {
  const { conclusion } = shownState(state);
  return conclusion === undefined ? {} : { conclusion };
}

/** Of an older attempt only its jobs tell how it went. */
function stateOfAttempt(view: View, run: WorkflowRun, attempt: number): { state: RunState; startedAt: Seconds; stoppedAt: Seconds } {
  if (attempt === run.attempt) return run;
  const jobs = jobsOf(view.world, run, attempt);
  const state = (['failure', 'cancelled', 'success'] as const).find((word) => jobs.some((job) => job.state === word)) ?? 'skipped';
  const starts = jobs.map((job) => job.startedAt).filter((at) => at > 0);
  return { state, startedAt: starts.length > 0 ? Math.min(...starts) : 0, stoppedAt: Math.max(0, ...jobs.map((job) => job.stoppedAt)) };
}

/** Open pull requests from the run's branch, or the one it ran for. */
function pullsOf(view: View, repo: Repository, run: WorkflowRun): object[] {
  const isMeant = (issue: Issue): boolean =>
    issue.repoId === repo.id &&
    issue.state === 'open' &&
    issue.pull !== null &&
    (run.ref === `refs/pull/${issue.number}/head` || run.ref === `refs/heads/${issue.pull.headBranch}`);
  return [...view.world.issues.values()].filter(isMeant).map((issue) => {
    const pull = issue.pull as Pull;
    const side = (ref: string, sha: string): object => ({ ref, sha, repo: { id: repo.id, url: repoApiUrl(view, repo), name: repo.name } });
    return {
      id: pull.id,
      number: issue.number,
      url: repoApiUrl(view, repo, `/pulls/${issue.number}`),
      head: side(pull.headBranch, pull.headSha),
      base: side(pull.baseBranch, repo.git.branches.get(pull.baseBranch) ?? pull.baseSha),
    };
  });
}

/** A row of the task list: one execution of one job, with the state in its internal word. */
export function renderTask(view: View, task: Task): object {
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

/** A branch or tag by its name, a pull request as `#12`. */
export function displayRef(ref: string): string {
  const pull = /^refs\/pull\/(\d+)\//.exec(ref)?.[1];
  return pull === undefined ? ref.replace(/^refs\/(heads|tags)\//, '') : `#${pull}`;
}
