import { resolve } from 'node:path';
import { Command } from 'commander';
import type { RehearsedRun, RestoreReport } from '../api/operations/answers.js';
import type { JobRun } from '../housekeeping/jobs/job-runner.js';
import { UserError } from '../core/errors.js';
import { orgOption, reasonOption } from './command-options.js';
import type { SetExit } from './command-options.js';
import { moreLine, pageCommand } from './page-command.js';
import { listTable } from './print-list.js';
import { plain, print, state } from './print.js';
import { withBot, type Reach } from './reach-bot.js';
import { type BotOptions, botCommand, storeCommand } from './bot-command.js';
import { JOB_RESULTS, JOBS } from '../api/lists.js';
import type { SentTo } from '../api/operations/index.js';
import { counted } from '../api/words.js';

interface RunOptions extends BotOptions {
  readonly org?: string;
  readonly dryRun: boolean;
  readonly reason?: string;
}

/** Exit code where a job could not be done, or not for everything; findings are no failure. */
const FAILED = 3;

export function housekeepingCommand(exit: SetExit): Command {
  const list = pageCommand('list', 'list jobs, their schedules and last results: first what needs attention', {
    page: (bot, options: SentTo<'jobs'>) => bot.call('jobs', options),
    show: (page) =>
      [listTable(JOBS, page.jobs), '', `${listTable(JOB_RESULTS, page.rows)}${moreLine(page, 'result')}`].join('\n'),
  })
    .addOption(orgOption())
    .option('--job <name>', 'only this job');
  const run = storeCommand('run', 'run a job now, or a scheduled rule or policy once')
    .argument('<job>', 'name of a job (see list), or id of a scheduled rule or policy')
    .option('--org <name>', 'only this organization. Required for a rule or policy')
    .option('--dry-run', 'show what the job would do, and do nothing', false)
    .addOption(reasonOption())
    .action((job: string, options: RunOptions) => withBot(options.config, (bot) => runJob(bot, job, options, exit)));
  const restore = botCommand(
    'restore',
    'restore old arrivals from archive files (retention.archive), to replay them; for a whole store use `forgehand restore`',
    {
      argument: 'files',
      ask: async (bot, { files }: { files: readonly string[] }) => {
        const reports: Array<RestoreReport & { file: string }> = [];
        for (const file of files) reports.push({ file, ...(await bot.call('restore', { file: resolve(file) })) });
        return reports;
      },
      show: (reports) =>
        reports
          .map(
            ({ file, putBack, stored, history, unchanged }) =>
              `${plain(file)}: ${putBack} have their body again, ${stored} are new here and decided now, ${history} are too old to be decided, ${unchanged} were there`,
          )
          .join('\n'),
    },
  ).argument('<file...>', 'archive files, on the machine of the bot');
  return new Command('housekeeping')
    .description('list and run scheduled jobs')
    .addCommand(list.exitOverride())
    .addCommand(run.exitOverride())
    .addCommand(restore.exitOverride());
}

export async function runJob(
  bot: Pick<Reach, 'call'>,
  job: string,
  { json, org, dryRun, reason }: Omit<RunOptions, 'config'>,
  exit: SetExit,
): Promise<void> {
  const { jobs } = await bot.call('jobs', { limit: 1 });
  if (jobs.some((one) => one.job === job)) {
    const { runs } = await bot.call('runJob', { job, org, dryRun, reason });
    print(json, runs, () => runs.map((run) => describe(job, run, dryRun)).join('\n'));
    if (runs.some(({ error, outcome }) => error !== null || outcome?.missed !== undefined)) exit(FAILED);
    return;
  }
  if (org === undefined)
    throw new UserError(
      'NO_SUCH_JOB',
      `there is no job ${job} (see forgehand housekeeping list); to fire a rule or policy of that id, pass --org`,
    );
  const answer = await bot.call('runSchedule', { org, schedule: job, dryRun, reason });
  const { tickId, undecided, rehearsed } = answer;
  const runs = counted(answer.runs, 'run');
  const rest = undecided.length > 0 ? `, ${undecided.length} not decided` : '';
  print(json, answer, () =>
    rehearsed
      ? [`${job}: it would make ${runs}${rest}; nothing was stored or done`, ...rehearsed.map(rehearsedLine)].join('\n')
      : [
          `${job}: ${runs} decided (tick ${tickId})${rest}`,
          ...undecided.map((text) => `  not decided: ${plain(text)}`),
        ].join('\n'),
  );
  if (undecided.length > 0) exit(FAILED);
}

function rehearsedLine({ repo, state: of, reason, effects }: RehearsedRun): string {
  const wanted = effects.map(
    ({ action, itemKey, waits }) => `${action} ${plain(itemKey)}${waits ? ' (waits for an approval)' : ''}`,
  );
  return `  ${plain(repo ?? 'the organization')}  ${wanted.length > 0 ? wanted.join(', ') : `${state(of)}: ${plain(reason)}`}`;
}

function describe(job: string, run: JobRun, dryRun: boolean): string {
  const { outcome, error } = run;
  const head = `${job}${aboutOf(run) === '' ? '' : ` (${aboutOf(run)})`}`;
  if (!outcome) return `${head}: could not be done: ${plain(error ?? '')}`;
  return [
    `${head}: ${plain(outcome.summary)}`,
    ...outcome.changes.map((text) => `  ${dryRun ? 'would change' : 'changed'}: ${plain(text)}`),
    ...(outcome.missed ?? []).map((text) => `  not done: ${plain(text)}`),
    ...outcome.findings.map((text) => `  look at: ${plain(text)}`),
  ].join('\n');
}

function aboutOf({ forge, org }: JobRun): string {
  return org || forge;
}
