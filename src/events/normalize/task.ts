import { z } from 'zod';
import { type EventFact, Misfit, actKeyOf, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type Family, idLike, repositoryShape, userShape } from '../family.js';
import { actorOf, firstTime, objectOf, textOf, definedFields } from '../read-fields.js';
import { tableOf } from '../../core/table.js';

const jobShape = z.object({
  action: z.string().min(1),
  workflow_job: z.object({ id: idLike, run_id: idLike, name: z.string(), head_sha: z.string(), status: z.string() }),
  repository: repositoryShape,
  sender: userShape,
});

type TaskState = 'queued' | 'waiting' | 'in_progress' | 'completed';

const KIND_OF: Readonly<Record<TaskState, EventKind>> = {
  queued: 'task.queued',
  waiting: 'task.waiting',
  in_progress: 'task.started',
  completed: 'task.finished',
};

/** The server's internal words in task rows, and the words that deliveries and ops 11 and 12 use. */
const STATE_OF: Readonly<Record<string, TaskState>> = tableOf({
  waiting: 'queued',
  blocked: 'waiting',
  running: 'in_progress',
  cancelling: 'in_progress',
  success: 'completed',
  failure: 'completed',
  cancelled: 'completed',
  skipped: 'completed',
});

/** Jobs of workflow runs: as deliveries (Gitea 1.24 on), and as the rows of op 14 that the task poller reads. */
export const taskFamily: Family = {
  deliveries: {
    workflow_job: {
      owns: ['workflow_job', 'pull_request'],
      shape: jobShape,
      actions: Object.keys(KIND_OF),
      read: readJob,
    },
  },
};

/** State of a task row in the words of deliveries; null for a word nobody knows (`unknown` is one). */
export function taskStateOf(status: string): string | null {
  return STATE_OF[status] ?? null;
}

function readJob(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const job = objectOf(body.workflow_job);
  const state = textOf(body.action) as TaskState;
  const kind = KIND_OF[state];
  if (!repo || !job || !kind) return new Misfit('no job event');
  const { id, ...rest } = job;
  // A job that is queued again was created at the same time.
  const turnedAt =
    state === 'completed' ? firstTime(job.completed_at) : state === 'in_progress' ? firstTime(job.started_at) : null;
  const fact = {
    kind,
    factKey: taskKey(repo.id, kind, textOf(job.html_url), textOf(job.name), textOf(job.head_sha)),
    factAt: state === 'completed' || state === 'in_progress' ? turnedAt : firstTime(job.created_at),
    actor: actorOf(body.sender),
    repo,
    data: definedFields({
      action: body.action,
      task: definedFields({ job_id: id, ...rest, conclusion: job.conclusion ?? undefined }),
      sha: job.head_sha,
      branch: textOf(job.head_branch) || undefined,
      pull_request: objectOf(body.pull_request) ?? undefined,
    }),
  };
  return { ...fact, ...actKeyOf(fact, turnedAt) };
}

/**
 * The fact in a task row. Rows tell no run id in every version, no attempt and no actor; the number in the path of `url` is the same one that
 * the job's `html_url` has (a run id from Gitea 1.26 on, else a run number), so it joins both tellings.
 */
export function readTaskRow(row: JsonObject, repoId: string, repo: EventRepository | null): EventFact | Misfit {
  const status = textOf(row.status);
  const state = STATE_OF[status];
  if (!state) return new Misfit('the task row has an unknown status');
  const kind = KIND_OF[state];
  const { id, status: _, url, ...rest } = row;
  return {
    kind,
    factKey: taskKey(repoId, kind, textOf(url), textOf(row.name), textOf(row.head_sha)),
    factAt:
      state === 'completed'
        ? firstTime(row.updated_at)
        : state === 'in_progress'
          ? firstTime(row.run_started_at, row.created_at)
          : firstTime(row.created_at),
    actor: null,
    repo,
    data: definedFields({
      action: state,
      task: definedFields({
        task_id: id,
        ...rest,
        status: state,
        conclusion: state === 'completed' ? status : undefined,
        html_url: url,
      }),
      sha: row.head_sha,
      // Made for display: `#12` stands for pull request 12.
      branch: /^(?!#)./.test(textOf(row.head_branch)) ? row.head_branch : undefined,
    }),
  };
}

function taskKey(repoId: string, kind: EventKind, address: string, name: string, sha: string): string {
  return factKeyOf(repoId, kind, runOfAddress(address), name, sha);
}

/** N of a path `…/actions/runs/N…`. Only the path counts: scheme and host follow the request that made the address. */
function runOfAddress(address: string): string {
  return /\/actions\/runs\/(\d+)(?:\/|$|\?|#)/.exec(address)?.[1] ?? '';
}
