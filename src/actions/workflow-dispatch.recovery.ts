import type { WorkflowRun } from '../core/objects/workflows.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { whereAllowed } from './support/where-offered.js';

/** More runs than began within a settle time anywhere. */
const LOOKED_AT = 50;

export interface WantedDispatch {
  readonly workflow: string;
  readonly ref: string;
}

export interface SeenRuns {
  /** Number of the run of this workflow that our account started since the call; null = there is none. */
  readonly ours: string | null;
  /** False = more runs began since than were looked at. */
  readonly isAll: boolean;
}

/**
 * A run tells what started it, on which branch and who did it: one that began after the newest of before the call is ours. Another intent
 * that starts the same workflow on the same ref waits for this one.
 */
export const dispatchRecovery = defineRecovery<WantedDispatch, SeenRuns>({
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
  if (seen === null)
    return askPerson(`whether ${workflow} was started cannot be told, and it must not be started twice`);
  if (seen.ours !== null) return done(`workflow ${workflow} started on ${ref}`, { objectId: seen.ours });
  return seen.isAll
    ? resend(`no run of ${workflow} began since the call`)
    : askPerson(`too many runs began since the call to tell whether ${workflow} was started`);
}

/** `nightly.yml@refs/heads/main`, or the file alone. */
function isOf(run: WorkflowRun, workflow: string, ref: string): boolean {
  const [path = ''] = (run.path ?? '').split('@');
  const isFile = path === workflow || path.endsWith(`/${workflow}`);
  // A tag leaves the branch empty on some servers.
  const isRef = !run.head_branch || run.head_branch === ref.replace(/^refs\/(heads|tags)\//, '');
  return run.event === 'workflow_dispatch' && isFile && isRef;
}
