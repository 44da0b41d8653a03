import { z } from 'zod';
import { jobRun, jobStatus } from '../../housekeeping/jobs/job-runner.js';
import { restoreReport, storeFiles } from './answers.js';
import { needEverything } from './admission.js';
import { operationOf } from './operation.js';

const operation = operationOf('orgs', 'orders', 'runner', 'archive', 'copier');

export const housekeepingOperations = {
  jobs: operation({
    route: 'GET /v1/housekeeping',
    summary: "The bot's own jobs, and what came out of their newest turns",
    scope: 'read',
    command: 'housekeeping list',
    input: z.object({}),
    answer: z.object({ jobs: z.array(jobStatus) }),
    handle: async ({ runner }, _input, _caller, sight) => ({ jobs: await runner.list(sight) }),
  }),
  runJob: operation({
    route: 'POST /v1/housekeeping/:job/run',
    summary: 'One turn of a job, now: for one organization, or for all that it is done for',
    scope: 'operate',
    command: 'housekeeping run',
    input: z.strictObject({
      job: z.string(),
      org: z.string().min(1).optional(),
      dryRun: z.boolean().default(false),
    }),
    answer: z.object({ runs: z.array(jobRun) }),
    handle: async ({ orgs, orders, runner }, { job, org: typed, dryRun }, caller, sight) => {
      if (typed === undefined || (sight !== null && !runner.isPerOrganization(job)))
        needEverything(sight, ': run a job that is done for each organization, and name yours');
      const org = typed === undefined ? null : orgs.wholeOf(typed, sight);
      orders.record('run-job', caller, { job, org, dryRun });
      await orders.connected();
      const runs = await runner.run(job, org, dryRun, caller.name);
      orders.nudge();
      return { runs };
    },
  }),
  restore: operation({
    route: 'POST /v1/archive/restore',
    summary: 'Bring back arrivals out of an archive file that lies where the bot runs',
    scope: 'operate',
    command: 'housekeeping restore',
    input: z.strictObject({ file: z.string().min(1) }),
    answer: restoreReport,
    handle: ({ orders, archive }, { file }, caller, sight) => {
      needEverything(sight);
      orders.record('restore', caller, { file });
      return archive.restore(file);
    },
  }),
  copyStoreFiles: operation({
    route: 'POST /v1/store/copy',
    summary: 'Copy the files of the embedded store, for a backup to read and to remove',
    scope: 'owner',
    command: 'backup',
    input: z.object({}),
    answer: storeFiles,
    handle: ({ orders, copier }, _, caller) => {
      orders.record('backup', caller, {});
      return copier.copyFiles();
    },
  }),
};
