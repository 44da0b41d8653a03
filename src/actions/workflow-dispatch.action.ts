import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { dispatchRecovery } from './workflow-dispatch.recovery.js';
import { changed } from './support/outcome.js';
import { optional, text, textMap } from './support/params.js';

const notEmpty = (value: string): string | null => (value.trim() === '' ? 'must not be empty' : null);

/** It has no state to compare with: one intent is one start. */
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
  whereOffered: [],
  right: RIGHTS.actions,
  naturalKey: 'workflow',
  keyOf: ({ workflow, ref }) => `${textOf(workflow)} ${textOf(ref)}`,
  raises: ['workflow.requested', 'workflow.started', 'workflow.finished', 'task.queued', 'task.started', 'task.finished'],
  example: { workflow: 'nightly.yml', ref: 'main' },

  recover: dispatchRecovery,

  async ensure({ target, forge }, { workflow, ref, inputs }) {
    await forge.dispatchWorkflow({ owner: target.owner, repo: target.name, workflow_id: workflow, body: { ref, ...(inputs === undefined ? {} : { inputs }) } });
    return changed(`workflow ${workflow} started on ${ref}`);
  },
});
