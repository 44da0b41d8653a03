import { renderActionRun } from '../../resources/run.js';
import type { WorkflowRun, World } from '../../world.js';
import type { HookEventType } from '../hook-events.js';
import type { Payload, PayloadContext } from './context.js';

/** How Forgejo tells the end of a run: success or failure, and once more when the last one had failed. No sender, no repository on top. */
export function actionRunPayloads(context: PayloadContext, run: WorkflowRun): Payload[] {
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
    one.repoId === run.repoId && one.workflowId === run.workflowId && one.ref === run.ref && one.event === run.event && one.number < run.number;
  return [...world.runs.values()].filter(isSameLine).sort((a, b) => b.number - a.number)[0];
}

/** Whoever makes the server tell of a run's end owns the repository, as far as `permissions` go. */
function shownRun(context: PayloadContext, run: WorkflowRun): object {
  return { ...renderActionRun(context.close, run), repository: context.repository(context.world.repo(run.repoId)) };
}
