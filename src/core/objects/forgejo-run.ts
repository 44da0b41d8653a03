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
  const fields = run as JsonObject;
  const branch =
    typeof fields.prettyref === 'string' && !fields.prettyref.startsWith('#') ? { head_branch: fields.prettyref } : {};
  return {
    ...fields,
    display_title: fields.title ?? null,
    run_number: fields.index_in_repo ?? null,
    head_sha: fields.commit_sha ?? null,
    path: fields.workflow_id ?? null,
    event: fields.trigger_event ?? fields.event ?? null,
    actor: fields.trigger_user ?? null,
    trigger_actor: fields.trigger_user ?? null,
    started_at: fields.started ?? null,
    completed_at: fields.stopped ?? null,
    ...branch,
    ...(STATES[String(fields.status)] ?? {}),
  };
}
