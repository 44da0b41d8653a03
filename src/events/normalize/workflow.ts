import { z } from 'zod';
import { type EventFact, Misfit, actKeyOf, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type DeliveryReader, type Family, idLike, repositoryShape, userShape } from '../family.js';
import { actorOf, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';
import { tableOf } from '../../core/table.js';

const workflowRunShape = z.object({
  action: z.string().min(1),
  workflow_run: z.object({ id: idLike, head_sha: z.string(), status: z.string() }),
  repository: repositoryShape,
  sender: userShape,
});

const KIND_OF: Readonly<Record<string, EventKind>> = tableOf({
  requested: 'workflow.requested',
  in_progress: 'workflow.started',
  completed: 'workflow.finished',
});

/** Event type, the word its `action` must be, and the kind. */
const ACTION_RUNS = [
  ['action_run_success', 'success', 'workflow.finished'],
  ['action_run_failure', 'failure', 'workflow.finished'],
  ['action_run_recover', 'recover', 'workflow.recovered'],
] as const;

/** Workflow runs as Gitea (1.25 on) tells them, and the ends of runs as Forgejo does. The run stands under `run` with the same main fields. */
export const workflowFamily: Family = {
  deliveries: {
    workflow_run: {
      owns: ['workflow_run', 'pull_request'],
      shape: workflowRunShape,
      actions: Object.keys(KIND_OF),
      read: readWorkflowRun,
    },
    ...Object.fromEntries(
      ACTION_RUNS.map(([eventType, action, kind]): [string, DeliveryReader] => [
        eventType,
        {
          owns: ['run'],
          shape: z.object({
            action: z.literal(action),
            run: z.object({ id: idLike, commit_sha: z.string(), status: z.string(), repository: repositoryShape }),
          }),
          read: (body, repo) => readActionRun(body, repo, kind),
        },
      ]),
    ),
  },
};

function readWorkflowRun(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const told_ = objectOf(body.workflow_run);
  const kind = KIND_OF[textOf(body.action)];
  if (!repo || !told_ || !kind) return new Misfit('no workflow run event');
  const { repository: _, ...run } = told_;
  const factAt =
    kind === 'workflow.finished'
      ? firstTime(run.completed_at)
      : kind === 'workflow.started'
        ? firstTime(run.started_at)
        : null;
  const fact = {
    kind,
    factKey: factKeyOf(repo.id, kind, idOf(run.id), idOf(run.run_attempt)),
    factAt,
    actor: actorOf(body.sender),
    repo,
    data: definedFields({
      action: body.action,
      run,
      workflow: body.workflow,
      sha: run.head_sha,
      branch: textOf(run.head_branch) || undefined,
      pull_request: objectOf(body.pull_request) ?? undefined,
    }),
  };
  return { ...fact, ...actKeyOf(fact, factAt) };
}

/** Forgejo's body has no top-level `repository` and no `sender`. */
function readActionRun(body: JsonObject, repo: EventRepository | null, kind: EventKind): EventFact | Misfit {
  const told_ = objectOf(body.run);
  if (!told_ || !repo) return new Misfit('no repository');
  // `event_payload` is the causing delivery once more, as text.
  const { repository: _, event_payload: __, ...rest } = told_;
  const run: JsonObject = {
    ...rest,
    run_number: told_.index_in_repo ?? null,
    display_title: told_.title ?? '',
    head_sha: told_.commit_sha ?? '',
    head_branch: told_.prettyref ?? '',
    status: 'completed',
    conclusion: told_.status ?? '',
    started_at: told_.started ?? null,
    completed_at: told_.stopped ?? null,
  };
  const last = objectOf(body.last_run);
  const fact = {
    kind,
    factKey: factKeyOf(repo.id, kind, idOf(told_.id)),
    factAt: firstTime(told_.stopped, told_.updated),
    actor: actorOf(told_.trigger_user),
    repo,
    data: definedFields({
      action: body.action,
      run,
      sha: told_.commit_sha,
      branch: textOf(told_.prettyref) || undefined,
      prior_status: body.prior_status,
      last_run: last ? definedFields({ id: last.id, status: last.status }) : undefined,
    }),
  };
  return { ...fact, ...actKeyOf(fact, firstTime(told_.stopped)) };
}
