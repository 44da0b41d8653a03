import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { tableOf } from '../../core/table.js';

/** Internal words of a run, as Forgejo tells them, in those of the others. */
const STATES: Readonly<Record<string, { status: string; conclusion?: string }>> = tableOf({
  waiting: { status: 'queued' },
  blocked: { status: 'waiting' },
  running: { status: 'in_progress' },
  success: { status: 'completed', conclusion: 'success' },
  failure: { status: 'completed', conclusion: 'failure' },
  cancelled: { status: 'completed', conclusion: 'cancelled' },
  skipped: { status: 'completed', conclusion: 'skipped' },
});

/**
 * A workflow run of Forgejo (`index_in_repo`, `commit_sha`, `trigger_user`, …) under the field names of Gitea; its own fields stay.
 * Anything else is given back as it came. Source: recordings forgejo-15 actions-runs.
 */
export function fromForgejoRun(run: unknown): unknown {
  if (!isJsonObject(run as Json) || !Object.hasOwn(run as JsonObject, 'index_in_repo')) return run;
  const told = run as JsonObject;
  const branch =
    typeof told.prettyref === 'string' && !told.prettyref.startsWith('#') ? { head_branch: told.prettyref } : {};
  return {
    ...told,
    display_title: told.title ?? null,
    run_number: told.index_in_repo ?? null,
    head_sha: told.commit_sha ?? null,
    path: told.workflow_id ?? null,
    event: told.trigger_event ?? told.event ?? null,
    actor: told.trigger_user ?? null,
    trigger_actor: told.trigger_user ?? null,
    started_at: told.started ?? null,
    completed_at: told.stopped ?? null,
    ...branch,
    ...(STATES[String(told.status)] ?? {}),
  };
}
