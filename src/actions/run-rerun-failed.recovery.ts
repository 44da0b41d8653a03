import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface SeenRun {
  /** 0 = the run is gone. */
  readonly attempt: number;
}

/** Each rerun is one attempt more: the number tells whether ours began. */
export const rerunRecovery = defineRecovery<{ readonly run: string }, SeenRun>({
  reads: ['getRun'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { run }) {
    const found = await whereOffered(forge.getRun, (get) => orMissing(get({ ...placeOf(target), run })));
    return found === undefined ? null : { attempt: found === null ? 0 : Number(found.run_attempt ?? 1) };
  },

  decide: decideRerun,
});

export function decideRerun({
  wanted: { run },
  snapshot,
  seen,
}: RecoveryFacts<{ readonly run: string }, SeenRun>): Verdict {
  if (seen === null) return askPerson(`run ${run} cannot be read, and another rerun costs a runner`);
  if (seen.attempt === 0) return settledAs('refused', `run ${run} is not there any more`);
  const before = Number(snapshot?.['attempt'] ?? 1);
  return seen.attempt > before
    ? done(`failed jobs of run ${run} run again`)
    : resend(`run ${run} has the attempts of before`);
}
