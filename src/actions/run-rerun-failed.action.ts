import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { id, optional, whole } from './support/params.js';
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
import { orMissing, whereOffered } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

interface SeenRun {
  /** 0 = the run is gone. */
  readonly attempt: number;
}

/** Each rerun is one attempt more: the number tells whether ours began. */
const rerunRecovery = defineRecovery<{ readonly run: string }, SeenRun>({
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
  const about = { what: 'run', name: run };
  if (seen === null) return askPerson(say('found.unreadable', { ...about, then: 'run-twice' }));
  if (seen.attempt === 0) return settledAs('refused', say('found.gone', about));
  const before = Number(snapshot?.['attempt'] ?? 1);
  return seen.attempt > before
    ? done(say('made.rerun', about))
    : resend(say('found.run-again', { name: run, count: before }));
}

/** Once: a run that was run again already, by whomever, is left alone. */
export const rerunFailedJobs = defineEnsuringAction({
  name: 'run.rerun_failed',
  summary: 'Run the failed jobs of a workflow run again, once',
  target: 'repository',
  params: {
    run: id({ summary: 'id of the run' }),
    attempts: optional(whole({ summary: 'maximum number of attempts. Default: 2', min: 2, max: 10 })),
  },
  operations: ['rerunFailedJobs', 'getRun'],
  whereOffered: [],
  right: RIGHTS.actions,
  naturalKey: 'run',
  keyOf: ({ run }) => textOf(run),
  object: () => null,
  names: () => [],
  raises: [
    'workflow.requested',
    'workflow.started',
    'workflow.finished',
    'task.queued',
    'task.started',
    'task.finished',
  ],
  example: { run: '812' },

  recover: rerunRecovery,

  async ensure({ target, forge, remember }, { run, attempts = 2 }) {
    const where = { owner: target.owner, repo: target.name, run };
    const found = await orMissing(forge.getRun(where));
    if (found === null) return refused(say('cannot.missing', { what: 'run', name: run }));
    const about = { what: 'run', name: run };
    const attempt = Number(found.run_attempt ?? 1);
    if (found.status !== 'completed')
      return unchanged(say('found.state', { ...about, state: found.status ?? 'not over' }));
    if (found.conclusion !== 'failure')
      return unchanged(say('found.state', { ...about, state: `over: ${found.conclusion ?? 'nothing'}` }));
    if (attempt >= attempts) return unchanged(say('found.run-again', { name: run, count: attempt }));
    remember({ attempt });
    await forge.rerunFailedJobs(where);
    return changed(say('made.rerun', about));
  },
});
