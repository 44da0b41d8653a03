import type { Reason } from '../core/reason.js';
import { withPeople } from '../core/run-reasons.js';
import type { NewIntent } from '../core/run.js';
import type { RecordedRun } from '../pipeline/journal-store.port.js';
import type { KeptPlan } from './policy-plan.js';

/** What becomes of the runs of a policy by its plan. Pure. */

/** A run that wanted something and is held back writes nothing; one that wanted nothing stays as it is. */
export function withheld(
  recorded: RecordedRun,
  state: 'not-fired' | 'error',
  because: (wanted: Reason) => Reason,
): RecordedRun {
  const { run, intents } = recorded;
  if (intents.length === 0) return recorded;
  return { ...recorded, run: { ...run, state, reason: because(run.reason) }, intents: [] };
}

/** The plan was approved: nothing of it waits any more. */
function approved({ approval: _approval, twoPeople: _twoPeople, ...intent }: NewIntent): NewIntent {
  return intent;
}

/** What a plan lets through. The record of the run keeps both people of a plan that took two. */
export function released(recorded: RecordedRun, writes: readonly NewIntent[], plan: KeptPlan): RecordedRun {
  const intents = writes.map(approved);
  if (!plan.twoPeople || intents.length === 0) return { ...recorded, intents };
  const people = `plan ${plan.hash.slice(0, 12)} requested by ${plan.madeBy}, approved by ${plan.decidedBy ?? 'nobody'}`;
  return { ...recorded, run: { ...recorded.run, reason: withPeople(recorded.run.reason, people) }, intents };
}

/** Whether something of it would be written. */
export function wantsLive(runs: readonly RecordedRun[]): boolean {
  return runs.some(({ intents }) => intents.some(({ mode }) => mode === 'live'));
}

export function repositoriesOf(runs: readonly RecordedRun[]): string[] {
  const targets = runs.flatMap(({ intents }) => intents.map(({ target }) => target));
  return [...new Set(targets.flatMap((target) => (target.kind === 'repository' ? [target.id] : [])))];
}
