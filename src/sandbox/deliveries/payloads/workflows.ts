import type { ToldOf } from '../../happening.js';
import { rfc3339 } from '../../render/time.js';
import { NEVER } from '../../render/view.js';
import { renderJob } from '../../resources/job.js';
import { repoApiUrl, repoWebUrl } from '../../resources/repository.js';
import { renderActionRun, renderRun } from '../../resources/run.js';
import type { Repository, WorkflowRun, World } from '../../world.js';
import type { HookEventType } from '../hook-events.js';
import type { Payload, PayloadContext } from './context.js';

const JOB_ACTIONS = {
  'job.queued': 'queued',
  'job.waiting': 'waiting',
  'job.started': 'in_progress',
  'job.finished': 'completed',
} as const;
const RUN_ACTIONS = {
  'run.requested': 'requested',
  'run.started': 'in_progress',
  'run.finished': 'completed',
} as const;

/** A job that is queued, waits for others, is claimed, ends. */
export function jobPayloads(context: PayloadContext, happening: ToldOf<keyof typeof JOB_ACTIONS>): Payload {
  return {
    type: 'workflow_job',
    body: {
      action: JOB_ACTIONS[happening.kind],
      workflow_job: renderJob(context.open, happening.job),
      ...context.organizationOf(happening.repo),
      repository: context.repository(happening.repo),
      sender: context.sender(),
    },
  };
}

/** A run that is asked for, begins, ends; its end has names of its own on Forgejo. */
export function runPayloads(context: PayloadContext, happening: ToldOf<keyof typeof RUN_ACTIONS>): Payload[] {
  const payload: Payload = {
    type: 'workflow_run',
    body: {
      action: RUN_ACTIONS[happening.kind],
      workflow: workflowOf(context, happening.repo, happening.run),
      workflow_run: renderRun(context.open, happening.run),
      ...context.organizationOf(happening.repo),
      repository: context.repository(happening.repo),
      sender: context.sender(),
    },
  };
  return happening.kind === 'run.finished' ? [payload, ...actionRunPayloads(context, happening.run)] : [payload];
}

/** The workflow as its file stands in the run's commit. */
function workflowOf({ open }: PayloadContext, repo: Repository, run: WorkflowRun): object {
  const commit = repo.git.commits.get(run.headSha);
  const path =
    [...(commit?.files.keys() ?? [])].find((file) => file.endsWith(`/workflows/${run.workflowId}`)) ??
    `.gitea/workflows/${run.workflowId}`;
  const at = rfc3339(commit?.author.at ?? run.createdAt, 'UTC');
  const source = run.ref.startsWith('refs/heads/')
    ? `branch/${run.ref.slice('refs/heads/'.length)}`
    : `commit/${run.headSha}`;
  return {
    id: run.workflowId,
    name: run.workflowName,
    path,
    state: 'active',
    created_at: at,
    updated_at: at,
    url: repoApiUrl(open, repo, `/actions/workflows/${run.workflowId}`),
    html_url: repoWebUrl(open, repo, `/src/${source}/${path}`),
    badge_url: repoWebUrl(
      open,
      repo,
      `/actions/workflows/${run.workflowId}/badge.svg?branch=${encodeURIComponent(repo.defaultBranch)}`,
    ),
    deleted_at: NEVER,
  };
}

/** How Forgejo tells the end of a run: success or failure, and once more when the last one had failed. No sender, no repository on top. */
function actionRunPayloads(context: PayloadContext, run: WorkflowRun): Payload[] {
  const last = lastRunBefore(context.world, run);
  const payload = (action: 'success' | 'failure' | 'recover'): Payload => ({
    type: `action_run_${action}` satisfies HookEventType,
    body: {
      action,
      run: shownRun(context, run),
      ...(last ? { last_run: shownRun(context, last) } : {}),
      prior_status: 'running',
    },
  });
  if (run.state !== 'success') return [payload('failure')];
  return last && last.state !== 'success' ? [payload('success'), payload('recover')] : [payload('success')];
}

/** The newest earlier run of the same workflow for the same kind of event on the same ref. */
function lastRunBefore(world: World, run: WorkflowRun): WorkflowRun | undefined {
  const isSameLine = (one: WorkflowRun): boolean =>
    one.repoId === run.repoId &&
    one.workflowId === run.workflowId &&
    one.ref === run.ref &&
    one.event === run.event &&
    one.number < run.number;
  return [...world.runs.values()].filter(isSameLine).sort((a, b) => b.number - a.number)[0];
}

/** Whoever makes the server tell of a run's end owns the repository, as far as `permissions` go. */
function shownRun(context: PayloadContext, run: WorkflowRun): object {
  return { ...renderActionRun(context.close, run), repository: context.repository(context.world.repo(run.repoId)) };
}
