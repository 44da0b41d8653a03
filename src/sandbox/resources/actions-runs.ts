import type { Answer } from '../answer.js';
import { badRequest, noContent, notFound, ok, Refusal, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { resolveRef } from '../git/store.js';
import type { RepoCall } from '../guards.js';
import { doer, forUser, onOrganization, onRepository } from '../guards.js';
import type { Call } from '../handler.js';
import { isEnded } from '../make/job.js';
import { makeRun, rerunFailedJobs, rerunJobs } from '../make/run.js';
import { jobsOf } from '../make/run-jobs.js';
import { cut, listHeaders, readPage } from '../paging.js';
import { canRead, permissionOn } from '../permissions.js';
import { readId } from '../read-id.js';
import type { Handlers } from '../registry.js';
import { repoApiUrl } from '../render/repository.js';
import { renderActionRun } from '../render/action-run.js';
import type { View } from '../render/view.js';
import { renderJob, renderRun, renderTask, runWebUrl } from '../render/workflow.js';
import { titleOf } from '../workflows/start-workflows.js';
import { workflowsAt } from '../workflows/triggers.js';
import type { Repository, RunState, WorkflowJob, WorkflowRun } from '../world.js';

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
function wantedStates(call: Call): (state: RunState) => boolean {
  const words = call.query.getAll('status').filter((word) => word !== '');
  const states = words.flatMap((word) => {
    const found = FILTERS[word];
    if (!found) throw badRequest(`invalid status ${word}`);
    return found;
  });
  return (state) => words.length === 0 || states.includes(state);
}

function jobList(call: Call, jobs: readonly WorkflowJob[]): Answer {
  const isWanted = wantedStates(call);
  const wanted = jobs.filter((job) => isWanted(job.state));
  const page = cut(wanted, readPage(call)).map((job) => renderJob(call.view, job));
  return ok({ jobs: page, total_count: wanted.length }, listHeaders(call, wanted.length, { link: true }));
}

function runList(call: Call, runs: readonly WorkflowRun[]): Answer {
  const isWanted = wantedStates(call);
  const wanted = runs.filter((run) => isWanted(run.state)).sort((a, b) => Number(b.id - a.id));
  const page = cut(wanted, readPage(call)).map((run) => showRun(call)(call.view, run));
  return ok({ workflow_runs: page, total_count: wanted.length }, listHeaders(call, wanted.length, { link: true }));
}

function showRun({ profile }: Call): (view: View, run: WorkflowRun) => object {
  return profile.workflows.runForm === 'action run' ? renderActionRun : (view, run) => renderRun(view, run);
}

function runsIn(call: Call, isMeant: (repo: Repository) => boolean): WorkflowRun[] {
  return [...call.world.runs.values()].filter((run) => isMeant(call.world.repo(run.repoId)));
}

/** Of every attempt, oldest first; on some servers repository by repository. */
function jobsIn(call: Call, isMeant: (repo: Repository) => boolean): WorkflowJob[] {
  const repos = new Map(runsIn(call, isMeant).map((run) => [run.id, run.repoId]));
  const repoOf = (job: WorkflowJob): bigint => (call.profile.workflows.jobOrder === 'by repository' ? (repos.get(job.runId) ?? 0n) : 0n);
  return [...call.world.jobs.values()].filter((job) => repos.has(job.runId)).sort((a, b) => Number(repoOf(a) - repoOf(b)) || Number(a.id - b.id));
}

/** Repositories of the organization whose workflows the caller may see. */
function ofOrganization(call: Call & { org: { id: bigint } }): (repo: Repository) => boolean {
  return (repo) => repo.ownerId === call.org.id && canRead(permissionOn(call.world, call.caller.user, repo), 'repo.actions');
}

/** By the id of the run, not by its number. */
function runOf(call: RepoCall): WorkflowRun {
  const run = call.world.runs.get(readId(call.params.run));
  if (run?.repoId !== call.repo.id) throw notFound(`run with id ${call.params.run}: resource does not exist`);
  return run;
}

/** What is to run again must have come to an end. */
function endedRun(call: RepoCall): WorkflowRun {
  const run = runOf(call);
  if (!isEnded(run.state)) throw badRequest('this workflow run is not done');
  return run;
}

function attemptOf(call: RepoCall, run: WorkflowRun): number {
  const attempt = Number(readId(call.params.attempt));
  if (attempt < 1 || attempt > run.attempt) throw notFound(`run attempt ${attempt} for run ${run.id}: resource does not exist`);
  return attempt;
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
  const run = makeRun(world, doer(call), repo, { workflow, event: 'workflow_dispatch', title: titleOf(found.commit), ref: full, headSha: found.commit.sha });
  if (!style.details || call.query.get('return_run_details') !== 'true') return noContent();
  return ok({ workflow_run_id: run.id, run_url: repoApiUrl(call.view, repo, `/actions/runs/${run.id}`), html_url: runWebUrl(call.view, repo, run) });
}

export const actionsRunHandlers: Handlers = {
  getRunAttempt: onRepository(read, (call) => {
    const run = runOf(call);
    return ok(renderRun(call.view, run, attemptOf(call, run)));
  }),
  listRepoRuns: onRepository(read, (call) =>
    runList(
      call,
      runsIn(call, (repo) => repo === call.repo),
    ),
  ),
  listOrgRuns: onOrganization('member', (call) => runList(call, runsIn(call, ofOrganization(call)))),
  getRun: onRepository(read, (call) => ok(showRun(call)(call.view, runOf(call)))),
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
    const run = runOf(call);
    return jobList(call, jobsOf(call.world, run, attemptOf(call, run)));
  }),
  listJobsOfRun: onRepository(read, (call) => jobList(call, jobsOf(call.world, runOf(call)))),
  /** Newest first. */
  listActionTasks: onRepository(read, (call) => {
    const tasks = [...call.world.tasks.values()].filter((task) => task.repoId === call.repo.id).sort((a, b) => Number(b.id - a.id));
    const page = cut(tasks, readPage(call)).map((task) => renderTask(call.view, task));
    return ok({ workflow_runs: page, total_count: tasks.length }, listHeaders(call, tasks.length, { link: true }));
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
