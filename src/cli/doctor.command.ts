import type { Command } from 'commander';
import { storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';
import { whichOrg } from './which-org.js';

interface DoctorOptions {
  config: string;
  json: boolean;
  org?: string;
  operations?: boolean;
}

/** Exit: 0 nothing is wrong, 1 something is. */
export function doctorCommand(exit: SetExit): Command {
  return storeCommand('doctor', 'diagnose problems between forge and bot, with the fix for each')
    .option('--org <name>', 'only this organization')
    .option('--operations', 'probe every operation, not only those that the rules need, and list them')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is wrong, 1 there are findings, 2 wrong command line or file, 3 the check was not possible.',
    )
    .action((options: DoctorOptions) =>
      withBot(options.config, async (bot) => {
        const { describeDoctor } = await import('./print-doctor.js');
        const org = options.org === undefined ? undefined : whichOrg(bot.config, options.org).name;
        const report = await bot.call('doctor', { org, operations: options.operations === true });
        print(options.json, { running: bot.running, ...report }, () =>
          describeDoctor(report, options.operations === true),
        );
        if (report.findings > 0) exit(1);
      }),
    );
}
