import { defineEnsuringAction, textOf, changed } from './define-action.js';
import { say } from './reasons.js';
import { optional, text, textMap } from './support/params.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { branch, tag } from './support/objects.js';
import { whereAllowed } from '../forge/forge-client.js';
import type { WorkflowRun } from '../core/objects/workflows.js';
import { RIGHTS } from '../core/rights.js';

const notEmpty = (value: string): string | null => (value.trim() === '' ? 'must not be empty' : null);

/** More runs than began within a settle time anywhere. */
const LOOKED_AT = 50;

interface WantedDispatch {
  readonly workflow: string;
  readonly ref: string;
}

interface SeenRuns {
  /** Number of the run of this workflow that our account started since the call; null = there is none. */
  readonly ours: string | null;
  /** False = more runs began since than were looked at. */
  readonly isAll: boolean;
}

/**
 * A run tells what started it, on which branch and who did it: one that began after the newest of before the call is ours. Another intent
 * that starts the same workflow on the same ref waits for this one.
 */
const dispatchRecovery = defineRecovery<WantedDispatch, SeenRuns>({
  reads: ['listRepoRuns'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target, snapshot }, { workflow, ref }) {
    const { newest, account } = snapshot ?? {};
    if (typeof newest !== 'string' || typeof account !== 'string') return null;
    const told = await whereAllowed(forge.listRepoRuns, (list) => list({ ...placeOf(target), limit: LOOKED_AT }));
    if (told === undefined) return null;
    const runs = told.workflow_runs ?? [];
    const since = runs.filter((run) => BigInt(run.id ?? 0) > BigInt(newest));
    const ours = since.find((run) => isOf(run, workflow, ref) && (run.trigger_actor?.id ?? run.actor?.id) === account);
    return { ours: ours?.id ?? null, isAll: since.length < LOOKED_AT };
  },

  decide: decideDispatch,
});

export function decideDispatch({ wanted: { workflow, ref }, seen }: RecoveryFacts<WantedDispatch, SeenRuns>): Verdict {
  if (seen === null) return askPerson(say('found.unreadable', { what: 'runs', name: workflow, then: 'run-twice' }));
  if (seen.ours !== null) return done(say('made.started', { workflow, ref }), { objectId: seen.ours });
  return seen.isAll ? resend(say('found.not-started', { workflow })) : askPerson(say('found.many-runs', { workflow }));
}

/** `nightly.yml@refs/heads/main`, or the file alone. */
function isOf(run: WorkflowRun, workflow: string, ref: string): boolean {
  const [path = ''] = (run.path ?? '').split('@');
  const isFile = path === workflow || path.endsWith(`/${workflow}`);
  // A tag leaves the branch empty on some servers.
  const isRef = !run.head_branch || run.head_branch === ref.replace(/^refs\/(heads|tags)\//, '');
  return run.event === 'workflow_dispatch' && isFile && isRef;
}

/** It has no state to compare with: one intent is one start. The newest run is remembered, so that a start whose answer was lost is found. */
export const dispatchWorkflow = defineEnsuringAction({
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
    return changed(say('made.started', { workflow, ref }), { objectId: started?.workflow_run_id });
  },
});
