import { defineAction, textOf, changed, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { optional, text, textMap } from './support/params.js';
import { branch, tag } from './support/objects.js';
import { whereAllowed } from '../forge/forge-client.js';
import type { WorkflowRun } from '../core/objects/workflows.js';
import { RIGHTS } from '../core/rights.js';

const notEmpty = (value: string): string | null => (value.trim() === '' ? 'must not be empty' : null);

/** More runs than began within a settle time anywhere. */
const LOOKED_AT = 50;

/**
 * It has no state to compare with: one intent is one start. The newest run is remembered: after a lost answer, one that began since then on this branch and
 * that our account started is ours. Another intent that starts the same workflow on the same ref waits for this one.
 */
export const dispatchWorkflow = defineAction({
  name: 'workflow.dispatch',
  summary: 'Start a workflow that has the trigger workflow_dispatch',
  target: 'repository',
  params: {
    workflow: text('file of the workflow, such as nightly.yml', {
      max: 255,
      check: (file) => (/^[\w.-]+$/.test(file) ? null : 'must be the name of a file'),
    }),
    ref: text('branch or tag to run on', { max: 255, check: notEmpty }),
    inputs: optional(textMap('inputs of the workflow, as texts')),
  },
  operations: ['dispatchWorkflow'],
  whereOffered: ['listRepoRuns', 'getSelf'],
  right: RIGHTS.actions,
  naturalKey: 'workflow',
  itemBy: ['workflow', 'ref'],
  keyOf: ({ workflow, ref }) => `${textOf(workflow)} ${textOf(ref)}`,
  object: () => null,
  names: ({ ref }) => [branch(ref), tag(ref)],
  raises: [
    'workflow.requested',
    'workflow.started',
    'workflow.finished',
    'task.queued',
    'task.started',
    'task.finished',
  ],
  // Each intent is one start, whatever was started before.
  effect: { endsAlone: () => false },
  example: { workflow: 'nightly.yml', ref: 'main' },
  about: ({ workflow }) => ({ what: 'runs', name: workflow }),

  async look({ forge, place, call }) {
    const { newest, account } = call?.snapshot ?? {};
    if (call && (typeof newest !== 'string' || typeof account !== 'string')) return undefined;
    const answer = await whereAllowed(forge.listRepoRuns, (list) => list({ ...place, limit: call ? LOOKED_AT : 1 }));
    const runs = answer?.workflow_runs ?? [];
    if (call) {
      const since = runs.filter((run) => BigInt(run.id ?? 0) > BigInt(String(newest)));
      const ours = since.filter((run) => (run.trigger_actor?.id ?? run.actor?.id) === account);
      return answer && { since: ours, count: since.length, snapshot: null };
    }
    const self = await whereAllowed(forge.getSelf, (get) => get({}));
    const snapshot = answer && self?.id ? { newest: runs[0]?.id ?? '0', account: self.id } : null;
    return { since: [], count: 0, snapshot };
  },

  compare({ wanted: { workflow, ref }, seen, call }) {
    const ours = seen?.since.find((run) => isOf(run, workflow, ref));
    if (ours) return there(say('made.started', { workflow, ref }), { ids: [ours.id ?? ''] });
    if (call && (seen?.count ?? 0) >= LOOKED_AT)
      return { kind: 'person', reason: say('found.many-runs', { workflow }) };
    return toWrite(null, seen?.snapshot ? { remember: seen.snapshot } : {});
  },

  async write({ forge, place }, { workflow, ref, inputs }) {
    const body = { ref, ...(inputs === undefined ? {} : { inputs }) };
    const started = await forge.dispatchWorkflow({ ...place, workflow_id: workflow, body });
    return changed(say('made.started', { workflow, ref }), { objectId: started?.workflow_run_id });
  },

  recover: { reads: ['listRepoRuns'], unread: 'run-twice' },
});

/** `nightly.yml@refs/heads/main`, or the file alone. */
function isOf(run: WorkflowRun, workflow: string, ref: string): boolean {
  const [path = ''] = (run.path ?? '').split('@');
  const isFile = path === workflow || path.endsWith(`/${workflow}`);
  // A tag leaves the branch empty on some servers.
  const isRef = !run.head_branch || run.head_branch === ref.replace(/^refs\/(heads|tags)\//, '');
  return run.event === 'workflow_dispatch' && isFile && isRef;
}
