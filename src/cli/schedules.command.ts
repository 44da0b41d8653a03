import type { Command } from 'commander';
import type { ScheduleStatus } from '../housekeeping/schedule-status.js';
import { storeCommand } from './command-options.js';
import { plain, print, state, table, when } from './print.js';
import { withBot } from './reach-bot.js';

interface SchedulesOptions {
  readonly config: string;
  readonly json: boolean;
  readonly org?: string;
}

export function schedulesCommand(): Command {
  return storeCommand('schedules', 'list schedules of rules and policies: last run, next run, and why one did not run')
    .argument('[rule]', 'id of one rule or policy')
    .option('--org <name>', 'only this organization')
    .action((rule: string | undefined, { config, json, org }: SchedulesOptions) =>
      withBot(config, async (bot) => {
        const schedules = await bot.call('schedules', { org, rule });
        print(json, schedules, () => table(HEAD, schedules.map(row), 'no rule or policy has a schedule'));
      }),
    );
}

const HEAD = ['rule', 'schedule', 'last (UTC)', 'runs', 'next (UTC)', 'why not'];

function row({ org, id, cron, tz, last, next, runs, why }: ScheduleStatus): string[] {
  return [
    `${org}/${id}`,
    plain(tz === 'UTC' ? cron : `${cron} ${tz}`),
    when(last),
    `${last === null && runs.length > 0 ? 'when loaded: ' : ''}${runs.map(({ state: of, count }) => `${count} ${state(of)}`).join(', ')}`,
    when(next),
    plain(why.map(({ text }) => text).join('; ')),
  ];
}
