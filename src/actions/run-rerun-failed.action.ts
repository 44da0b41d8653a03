import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { rerunRecovery } from './run-rerun-failed.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { id, optional, whole } from './support/params.js';
import { orMissing } from './support/where-offered.js';

/** Once: a run that was run again already, by whomever, is left alone. */
export const rerunFailedJobs = defineAction({
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
    if (found === null) return refused(`there is no run ${run}`);
    const attempt = Number(found.run_attempt ?? 1);
    if (found.status !== 'completed') return unchanged(`run ${run} is ${found.status ?? 'not over'}`);
    if (found.conclusion !== 'failure') return unchanged(`run ${run} ended as ${found.conclusion ?? 'nothing'}`);
    if (attempt >= attempts) return unchanged(`run ${run} had ${attempt} attempts`);
    remember({ attempt });
    await forge.rerunFailedJobs(where);
    return changed(`failed jobs of run ${run} run again`);
  },
});
