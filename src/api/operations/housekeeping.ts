import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import { erasureReport } from '../../housekeeping/erase/person-erasure.js';
import { isTroubled, jobResult, jobRun, jobStatus } from '../../housekeeping/jobs/job-runner.js';
import { restoreReport, storeFiles } from './answers.js';
import { grouped } from '../../core/grouped.js';
import { needEverything } from './admission.js';
import { operation, reasoned } from './operation.js';
import { makePage, pageOf, paging } from './page-of.js';

export const housekeepingOperations = {
  jobs: operation({
    route: 'GET /v1/housekeeping',
    summary: "The bot's own jobs, and what came out of their newest runs: first what was not done, or found something",
    scope: 'read',
    command: 'housekeeping list',
    input: z.object({
      org: z.string().optional().describe('Only what was done for this organization.'),
      job: z.string().optional().describe('Only this job.'),
      ...paging,
    }),
    answer: pageOf(jobResult).extend({ jobs: z.array(jobStatus) }),
    handle: async ({ orgs, runner }, { org: typed, job, ...query }, _caller, visibility) => {
      const org = typed === undefined ? null : orgs.keyOf(typed, visibility);
      const all = await runner.results(visibility);
      const page = await makePage(
        {
          items: all.filter((one) => (org === null || one.org === org) && (job === undefined || one.job === job)),
          namesOf: ({ job: name, forge, org: of }) => [name, of || forge],
          needsAttention: isTroubled,
          rowsOf: (results) => results,
        },
        query,
      );
      const ofJob = grouped(all, ({ job: name }) => name);
      const jobs = runner.list().map((one) => {
        const own = ofJob.get(one.job) ?? [];
        const troubled = own.filter(isTroubled).length;
        return { ...one, done: own.length - troubled, troubled };
      });
      return { ...page, jobs };
    },
  }),
  runJob: operation({
    route: 'POST /v1/housekeeping/:job/run',
    summary: 'One turn of a job, now: for one organization, or for all that it is done for',
    scope: 'operate',
    takesLong: true,
    about: ['job', 'dryRun'],
    command: 'housekeeping run',
    input: z.strictObject({
      job: z.string(),
      org: z.string().min(1).optional(),
      dryRun: z.boolean().default(false),
      ...reasoned,
    }),
    answer: z.object({ runs: z.array(jobRun) }),
    handle: async ({ orgs, orders, runner }, { job, org: typed, dryRun, ...why }, caller, visibility) => {
      if (typed === undefined || (visibility !== null && !runner.isPerOrganization(job)))
        needEverything(visibility, ': run a job that is done for each organization, and name yours');
      const org = typed === undefined ? null : orgs.wholeOf(typed, visibility);
      orders.record('run-job', caller, { job, org, dryRun, ...why });
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
    takesLong: true,
    about: ['file'],
    command: 'housekeeping restore',
    input: z.strictObject({ file: z.string().min(1) }),
    answer: restoreReport,
    handle: ({ orders, archive }, { file }, caller, visibility) => {
      needEverything(visibility);
      orders.record('restore', caller, { file });
      return archive.restore(file);
    },
  }),
  erase: operation({
    route: 'POST /v1/erase',
    summary: 'Erase the texts and addresses of a person from the store; keys, account names and counts stay',
    scope: 'owner',
    takesLong: true,
    about: ['login', 'forge', 'dryRun'],
    command: 'erase',
    input: z.strictObject({
      login: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/, { error: 'the name of an account' }),
      forge: z.string().optional().describe('Where the account is; needed with several forges.'),
      addresses: z
        .array(z.string().regex(/^[^\s@<>]{1,100}@[^\s@<>]{1,150}$/, { error: 'an e-mail address' }))
        .max(20)
        .default([])
        .describe('Addresses of the person beside those that the store knows.'),
      dryRun: z.boolean().default(false),
    }),
    answer: erasureReport.extend({
      archive: z.string().nullable().describe('Folder of archived bodies, which it leaves alone.'),
    }),
    handle: async ({ orders, erasure, config }, { login, forge: typed, addresses, dryRun }, caller) => {
      const [only, ...others] = config.forges;
      const forge = typed ?? (others.length === 0 ? only?.id : undefined);
      if (forge === undefined || !config.forges.some(({ id }) => id === forge)) {
        const forgeIds = config.forges.map(({ id }) => id).join(', ');
        throw new UserError('NO_SUCH_FORGE', `pass --forge with the forge of the account: ${forgeIds}`);
      }
      orders.record('erase', caller, { login, forge, dryRun });
      const report = await erasure.run(forge, login, addresses, dryRun);
      orders.record('erased', caller, {
        login,
        forge,
        dryRun,
        arrivals: report.arrivals,
        events: report.events,
        runs: report.runs,
        acts: report.acts,
      });
      return { ...report, archive: config.retention.archive };
    },
  }),
  copyStoreFiles: operation({
    route: 'POST /v1/store/copy',
    summary: 'Copy the files of the embedded store, for a backup to read and to remove',
    scope: 'owner',
    takesLong: true,
    about: [],
    command: 'backup',
    input: z.object({}),
    answer: storeFiles,
    handle: ({ orders, copier }, _, caller) => {
      orders.record('backup', caller, {});
      return copier.copyFiles();
    },
  }),
};
