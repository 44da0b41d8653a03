import type { run as apiRun } from '../../core/objects/workflows.js';
import { type Answer, badRequest, notFound, ok, Refusal, noContent } from '../answer.js';
import { bind, field } from '../body.js';
import { writeGoJson } from '../deliveries/go-json.js';
import { resolveRef } from '../git/store.js';
import { doer, onOrganization, onRepository, readId, type RepoCall } from '../guards.js';
import { shaped, shownTime, type View, type Shown } from '../render/view.js';
import { counted } from '../paging.js';
import { canRead, permissionOn } from '../permissions.js';
import type { Call, Handlers } from '../handler.js';
import { rfc3339 } from '../render/time.js';
import type { Workflow } from '../workflows/read-workflow.js';
import { titleOf } from '../workflows/start-workflows.js';
import { workflowsAt } from '../workflows/triggers.js';
import type { Issue, Pull, Repository, Seconds, User, WorkflowJob, World } from '../world.js';
import { isEnded, jobsOf, makeJob, pickConclusion, pickStatus, putJob, tellStatus } from './job.js';
import { renderRepository, repoApiUrl, repoWebUrl } from './repository.js';

import type { WorkflowRun, RunState } from '../entities/run.js';
import { renderUser } from './owner-view.js';

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

/** Times of workflows are told in UTC, whatever the server's zone. */
export function utc(at: Seconds): string {
  return rfc3339(at, 'UTC');
}

/** Left out for pull requests and tags. */
export function headBranch(ref: string): { head_branch?: string } {
  return ref.startsWith('refs/heads/') ? { head_branch: ref.slice('refs/heads/'.length) } : {};
}

export function runWebUrl(view: View, repo: Repository, run: WorkflowRun): string {
  return repoWebUrl(view, repo, runPath(view.world, run));
}

/** @param attempt default the newest */
export function renderRun(view: View, run: WorkflowRun, attempt = run.attempt): Shown<typeof apiRun> {
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
    trigger_actor: renderUser(view, world.owner(attempt === run.attempt ? run.triggerActorId : run.actorId), {
      asOther: true,
    }),
    repository: renderRepository(view, repo, null),
    ...pickConclusion(then.state),
    pull_requests: pullsOf(view, repo, run),
    started_at: utc(then.startedAt),
    completed_at: utc(then.stoppedAt),
  });
}

/** Of an older attempt only its jobs tell how it went. */
function stateOfAttempt(
  view: View,
  run: WorkflowRun,
  attempt: number,
): { state: RunState; startedAt: Seconds; stoppedAt: Seconds } {
  if (attempt === run.attempt) return run;
  const jobs = jobsOf(view.world, run, attempt);
  const state =
    (['failure', 'cancelled', 'success'] as const).find((word) => jobs.some((job) => job.state === word)) ?? 'skipped';
  const starts = jobs.map((job) => job.startedAt).filter((at) => at > 0);
  return {
    state,
    startedAt: starts.length > 0 ? Math.min(...starts) : 0,
    stoppedAt: Math.max(0, ...jobs.map((job) => job.stoppedAt)),
  };
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
    const side = (ref: string, sha: string): object => ({
      ref,
      sha,
      repo: { id: repo.id, url: repoApiUrl(view, repo), name: repo.name },
    });
    return {
      id: pull.id,
      number: issue.number,
      url: repoApiUrl(view, repo, `/pulls/${issue.number}`),
      head: side(pull.headBranch, pull.headSha),
      base: side(pull.baseBranch, repo.git.branches.get(pull.baseBranch) ?? pull.baseSha),
    };
  });
}

/** A branch or tag by its name, a pull request as `#12`. */
export function displayRef(ref: string): string {
  const pull = /^refs\/pull\/(\d+)\//.exec(ref)?.[1];
  return pull === undefined ? ref.replace(/^refs\/(heads|tags)\//, '') : `#${pull}`;
}

/** A run as Forgejo shows it, in its list and in deliveries. Its `status` is the internal word; only a run that has ended has a `duration`. */
export function renderActionRun(view: View, run: WorkflowRun): object {
  const { world } = view;
  const repo = world.repo(run.repoId);
  return {
    id: run.id,
    title: run.title,
    repository: renderRepository(view, repo),
    workflow_id: run.workflowId,
    index_in_repo: run.number,
    trigger_user: renderUser(view, world.owner(run.triggerActorId), { asOther: true }),
    ScheduleID: 0,
    prettyref: displayRef(run.ref),
    is_ref_deleted: false,
    commit_sha: run.headSha,
    is_fork_pull_request: false,
    need_approval: false,
    approved_by: 0,
    // What was dispatched has no event of git.
    event: run.event === 'workflow_dispatch' ? '' : run.event,
    event_payload: writeGoJson({ ref: run.ref, after: run.headSha }),
    trigger_event: run.event,
    status: run.state,
    started: shownTime(view, run.startedAt),
    stopped: shownTime(view, run.stoppedAt),
    created: shownTime(view, run.createdAt),
    updated: shownTime(view, run.updatedAt),
    ...(isEnded(run.state) ? { duration: Math.max(0, run.stoppedAt - run.startedAt) * 1_000_000_000 } : {}),
    html_url: runWebUrl(view, repo, run),
  };
}

const read = { units: ['repo.actions'] } as const;
const write = { ...read, level: 'write' } as const;

/** Words of the `status` filter; they differ from those of the answers. */
const FILTERS: Record<string, readonly RunState[]> = {
  pending: ['blocked'],
  waiting: ['blocked'],
  requested: ['blocked'],
  action_required: ['blocked'],
  queued: ['waiting'],
  in_progress: ['running'],
  completed: ['success', 'failure', 'cancelled', 'skipped'],
  success: ['success'],
  failure: ['failure'],
  skipped: ['skipped'],
  neutral: ['skipped'],
  cancelled: ['cancelled'],
  timed_out: ['cancelled'],
};

/** The filter may be repeated; any of its words. */
export function wantedStates(call: Call): (state: RunState) => boolean {
  const words = call.query.getAll('status').filter((word) => word !== '');
  const states = words.flatMap((word) => {
    const found = FILTERS[word];
    if (!found) throw badRequest(`invalid status ${word}`);
    return found;
  });
  return (state) => words.length === 0 || states.includes(state);
}

function runList(call: Call, runs: readonly WorkflowRun[]): Answer {
  const isWanted = wantedStates(call);
  const wanted = runs.filter((run) => isWanted(run.state)).sort((a, b) => Number(b.id - a.id));
  return counted(call, 'workflow_runs', wanted, (run) => showRun(call)(call.view, run));
}

function showRun({ profile }: Call): (view: View, run: WorkflowRun) => object {
  return profile.workflows.runForm === 'action run' ? renderActionRun : (view, run) => renderRun(view, run);
}

export function runsIn(call: Call, isMeant: (repo: Repository) => boolean): WorkflowRun[] {
  return [...call.world.runs.values()].filter((run) => isMeant(call.world.repo(run.repoId)));
}

/** Repositories of the organization whose workflows the caller may see. */
export function ofOrganization(call: Call & { org: { id: bigint } }): (repo: Repository) => boolean {
  return (repo) =>
    repo.ownerId === call.org.id && canRead(permissionOn(call.world, call.caller.user, repo), 'repo.actions');
}

/** By the id of the run, not by its number. */
export function runNamed(call: RepoCall): WorkflowRun {
  const run = call.world.runs.get(readId(call.params.run));
  if (run?.repoId !== call.repo.id) throw notFound(`run with id ${call.params.run}: resource does not exist`);
  return run;
}

/** What is to run again must have come to an end. */
export function endedRun(call: RepoCall): WorkflowRun {
  const run = runNamed(call);
  if (!isEnded(run.state)) throw badRequest('this workflow run is not done');
  return run;
}

export function attemptOf(call: RepoCall, run: WorkflowRun): number {
  const attempt = Number(readId(call.params.attempt));
  if (attempt < 1 || attempt > run.attempt)
    throw notFound(`run attempt ${attempt} for run ${run.id}: resource does not exist`);
  return attempt;
}

function dispatch(call: RepoCall): Answer {
  const { repo, world } = call;
  const style = call.profile.workflows.dispatch;
  const { ref = '' } = bind(call, { ref: field.text({ required: true }), inputs: field.object() });
  const found = resolveRef(repo.git, ref);
  if (!found) throw new Refusal(style.unknown, `ref "${ref}" doesn't exist`);
  const id = call.params.workflow_id ?? '';
  const workflow = workflowsAt(repo, found.commit, call.profile.family).find((one) => one.id === id);
  if (!workflow) throw new Refusal(style.unknown, `workflow "${id}" doesn't exist`);
  if (!workflow.triggers.has('workflow_dispatch')) {
    if (style.withoutTrigger === 'ignored') return noContent();
    throw new Refusal(style.withoutTrigger, `workflow "${id}" has no workflow_dispatch event trigger`);
  }
  const full = found.kind === 'tag' ? `refs/tags/${found.name}` : `refs/heads/${found.name}`;
  const run = makeRun(world, doer(call), repo, {
    workflow,
    event: 'workflow_dispatch',
    title: titleOf(found.commit),
    ref: full,
    headSha: found.commit.sha,
  });
  if (!style.details || call.query.get('return_run_details') !== 'true') return noContent();
  return ok({
    workflow_run_id: run.id,
    run_url: repoApiUrl(call.view, repo, `/actions/runs/${run.id}`),
    html_url: runWebUrl(call.view, repo, run),
  });
}

export const actionsRunHandlers: Handlers = {
  getRunAttempt: onRepository(read, (call) => {
    const run = runNamed(call);
    return ok(renderRun(call.view, run, attemptOf(call, run)));
  }),
  listRepoRuns: onRepository(read, (call) =>
    runList(
      call,
      runsIn(call, (repo) => repo === call.repo),
    ),
  ),
  listOrgRuns: onOrganization('member', (call) => runList(call, runsIn(call, ofOrganization(call)))),
  getRun: onRepository(read, (call) => ok(showRun(call)(call.view, runNamed(call)))),
  rerunFailedJobs: onRepository(write, (call) => {
    rerunFailedJobs(call.world, doer(call), call.repo, endedRun(call));
    return { status: 201 };
  }),
  rerunRun: onRepository(write, (call) => {
    const run = endedRun(call);
    rerunJobs(call.world, doer(call), call.repo, run, jobsOf(call.world, run));
    return { status: 201 };
  }),
  dispatchWorkflow: onRepository(write, dispatch),
};
