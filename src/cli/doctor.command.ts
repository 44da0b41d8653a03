import type { Command } from 'commander';
import type { SetExit } from './command-options.js';
import { whichOrg } from './which-org.js';
import { botCommand } from './bot-command.js';
import { orgOption } from './command-options.js';

/** Exit: 0 nothing is wrong, 1 something is. */
export function doctorCommand(exit: SetExit): Command {
  return botCommand('doctor', 'diagnose problems between forge and bot, with the fix for each', {
    ask: async (bot, { org, operations }: { org?: string; operations: boolean }) => ({
      running: bot.running,
      ...(await bot.call('doctor', { org: org && whichOrg(bot.config, org).name, operations })),
    }),
    show: async (report, { operations }) => (await import('./print-doctor.js')).describeDoctor(report, operations),
    after: ({ findings }) => exit(findings > 0 ? 1 : 0),
  })
    .addOption(orgOption())
    .option('--operations', 'probe every operation, not only those that the rules need, and list them', false)
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is wrong, 1 there are findings, 2 wrong command line or file, 3 the check was not possible.',
    );
}
