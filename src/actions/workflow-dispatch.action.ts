import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { dispatchRecovery } from './workflow-dispatch.recovery.js';
import { changed } from './support/outcome.js';
import { optional, text, textMap } from './support/params.js';
import { whereAllowed } from './support/where-offered.js';

const notEmpty = (value: string): string | null => (value.trim() === '' ? 'must not be empty' : null);

/** It has no state to compare with: one intent is one start. The newest run is remembered, so that a start whose answer was lost is found. */
export const dispatchWorkflow = defineAction({
  name: 'workflow.dispatch',
  summary: 'Start a workflow that has the trigger workflow_dispatch',
  target: 'repository',
  params: {
    workflow: text({
      summary: 'file of the workflow, such as nightly.yml',
      max: 255,
      check: (file) => (/^[\w.-]+$/.test(file) ? null : 'must be the name of a file'),
    }),
    ref: text({ summary: 'branch or tag to run on', max: 255, check: notEmpty }),
    inputs: optional(textMap({ summary: 'inputs of the workflow, as texts' })),
  },
  operations: ['dispatchWorkflow'],
  whereOffered: ['listRepoRuns', 'getSelf'],
  right: RIGHTS.actions,
  naturalKey: 'workflow',
  keyOf: ({ workflow, ref }) => `${textOf(workflow)} ${textOf(ref)}`,
  raises: [
    'workflow.requested',
    'workflow.started',
    'workflow.finished',
    'task.queued',
    'task.started',
    'task.finished',
  ],
  example: { workflow: 'nightly.yml', ref: 'main' },

  recover: dispatchRecovery,

  async ensure({ target, forge, remember }, { workflow, ref, inputs }) {
    const where = { owner: target.owner, repo: target.name };
    const runs = await whereAllowed(forge.listRepoRuns, (list) => list({ ...where, limit: 1 }));
    const self = await whereAllowed(forge.getSelf, (get) => get({}));
    if (runs && self?.id) remember({ newest: runs.workflow_runs?.[0]?.id ?? '0', account: self.id });
    const started = await forge.dispatchWorkflow({
      ...where,
      workflow_id: workflow,
      body: { ref, ...(inputs === undefined ? {} : { inputs }) },
    });
    return changed(`workflow ${workflow} started on ${ref}`, { objectId: started?.workflow_run_id });
  },
});
