import type { run as apiRun } from '../../core/objects/workflows.js';
import { type Answer, ok, Refusal, noContent } from '../answer.js';
import { bind, field } from '../body.js';
import { writeGoJson } from '../deliveries/go-json.js';
import { resolveRef } from '../git/store.js';
import { doer, onOrganization, onRepository, type RepoCall } from '../guards.js';
import { shaped, shownTime, type View, type Shown } from '../render/view.js';
import { counted } from '../paging.js';
import type { Call, Handlers } from '../handler.js';
import { workflowsAt } from '../workflows/triggers.js';
import type { Issue, Pull, Repository, Seconds } from '../world.js';
import { renderRepository, repoApiUrl } from './repository.js';
import type { WorkflowRun, RunState } from '../entities/run.js';
import { renderUser } from './owner-view.js';
import { titleOf, isEnded, jobsOf, makeRun, rerunFailedJobs, rerunJobs } from './run-start.js';
import {
  pickConclusion,
  pickStatus,
  utc,
  headBranch,
  runWebUrl,
  displayRef,
  wantedStates,
  runsIn,
  ofOrganization,
  runNamed,
  endedRun,
  attemptOf,
} from './run-view.js';

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

function runList(call: Call, runs: readonly WorkflowRun[]): Answer {
  const isWanted = wantedStates(call);
  const wanted = runs.filter((run) => isWanted(run.state)).sort((a, b) => Number(b.id - a.id));
  return counted(call, 'workflow_runs', wanted, (run) => showRun(call)(call.view, run));
}

function showRun({ profile }: Call): (view: View, run: WorkflowRun) => object {
  return profile.workflows.runForm === 'action run' ? renderActionRun : (view, run) => renderRun(view, run);
}

function dispatch(call: RepoCall): Answer {
  const { repo, world } = call;
  const style = call.profile.workflows.dispatch;
  const { ref = '' } = bind(call, { ref: field.text({ required: true }), inputs: field.object() });
  const resolved = resolveRef(repo.git, ref);
  if (!resolved) throw new Refusal(style.unknown, `ref "${ref}" doesn't exist`);
  const id = call.params.workflow_id ?? '';
  const workflow = workflowsAt(repo, resolved.commit, call.profile.family).find((one) => one.id === id);
  if (!workflow) throw new Refusal(style.unknown, `workflow "${id}" doesn't exist`);
  if (!workflow.triggers.has('workflow_dispatch')) {
    if (style.withoutTrigger === 'ignored') return noContent();
    throw new Refusal(style.withoutTrigger, `workflow "${id}" has no workflow_dispatch event trigger`);
  }
  const full = resolved.kind === 'tag' ? `refs/tags/${resolved.name}` : `refs/heads/${resolved.name}`;
  const run = makeRun(world, doer(call), repo, {
    workflow,
    event: 'workflow_dispatch',
    title: titleOf(resolved.commit),
    ref: full,
    headSha: resolved.commit.sha,
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
