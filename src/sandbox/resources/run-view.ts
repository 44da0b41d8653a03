import type { RunState, WorkflowRun } from '../entities/run.js';
import type { Repository, Seconds } from '../world.js';
import { rfc3339 } from '../render/time.js';
import type { View } from '../render/view.js';
import { repoWebUrl } from './repository.js';
import type { Call } from '../handler.js';
import { badRequest, notFound } from '../answer.js';
import { canRead, permissionOn } from '../permissions.js';
import { type RepoCall, readId } from '../guards.js';
import { isEnded, runPath } from './run-start.js';

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

export function pickStatus(state: RunState): { status: string } {
  return { status: shownState(state).status };
}

export function pickConclusion(state: RunState): { conclusion?: string } {
  const { conclusion } = shownState(state);
  return conclusion === undefined ? {} : { conclusion };
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

/** A branch or tag by its name, a pull request as `#12`. */
export function displayRef(ref: string): string {
  const pull = /^refs\/pull\/(\d+)\//.exec(ref)?.[1];
  return pull === undefined ? ref.replace(/^refs\/(heads|tags)\//, '') : `#${pull}`;
}

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
    const ofWord = FILTERS[word];
    if (!ofWord) throw badRequest(`invalid status ${word}`);
    return ofWord;
  });
  return (state) => words.length === 0 || states.includes(state);
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
