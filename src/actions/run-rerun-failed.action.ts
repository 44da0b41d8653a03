import { defineAction, textOf, changed, refused, there, toWrite, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { id, optional, whole } from './support/params.js';
import { valueOf } from './support/unfit.js';
import { orMissing } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

/** Attempts of a run after which it is left alone. */
const FEW_ATTEMPTS = 10;

/** Once: a run that was run again already, by whomever, is left alone. Each rerun is one attempt more, so the number tells whether ours began. */
export const rerunFailedJobs = defineAction({
  name: 'run.rerun_failed',
  summary: 'Run the failed jobs of a workflow run again, once',
  target: 'repository',
  params: {
    run: id('id of the run'),
    attempts: optional(whole('maximum number of attempts. Default: 2', { min: 2, max: 10 })),
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
  effect: {
    // More attempts than that are no end.
    endsAlone: (inputs) => inputs['attempts'] === undefined || Number(valueOf(inputs, 'attempts')) <= FEW_ATTEMPTS,
  },
  example: { run: '812' },
  about: ({ run }) => ({ what: 'run', name: run }),

  look: ({ forge, place }, { run }) => orMissing(forge.getRun({ ...place, run })),

  compare({ wanted: { run, attempts = 2 }, seen, call }) {
    if (seen === null) return refused(say('cannot.missing', { what: 'run', name: run }));
    const about = { what: 'run', name: run };
    const attempt = Number(seen.run_attempt ?? 1);
    if (call) {
      const isMore = attempt > Number(call.snapshot?.['attempt'] ?? 1);
      return isMore ? there(say('made.rerun', about)) : toWrite(null);
    }
    if (seen.status !== 'completed')
      return unchanged(say('found.state', { ...about, state: seen.status ?? 'not over' }));
    if (seen.conclusion !== 'failure')
      return unchanged(say('found.state', { ...about, state: `over: ${seen.conclusion ?? 'nothing'}` }));
    if (attempt >= attempts) return unchanged(say('found.run-again', { name: run, count: attempt }));
    return toWrite(null, { remember: { attempt } });
  },

  async write({ forge, place }, { run }) {
    await forge.rerunFailedJobs({ ...place, run });
    return changed(say('made.rerun', { name: run }));
  },

  recover: { unread: 'run-twice' },
});
