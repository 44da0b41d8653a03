import { Command } from 'commander';
import { storeCommand } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';

export function housekeepingCommand(): Command {
  const run = storeCommand('run', 'fire a schedule (rule or policy) once, now')
    .argument('<schedule>', 'id of the scheduled rule or policy')
    .requiredOption('--org <name>', 'its organization')
    .action((schedule: string, options: { config: string; json: boolean; org: string }) =>
      withBot(options.config, async (bot) => {
        const answer = await bot.post<{ tickId: string; runs: number }>(
          `/v1/orgs/${encodeURIComponent(options.org)}/schedules/${encodeURIComponent(schedule)}/run`,
        );
        print(options.json, answer, () => `${schedule}: ${answer.runs} run${answer.runs === 1 ? '' : 's'} decided (tick ${answer.tickId})`);
      }),
    );
  return new Command('housekeeping').description('scheduled work, by hand').addCommand(run.exitOverride());
}
