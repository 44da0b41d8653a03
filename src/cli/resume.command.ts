import type { Command } from 'commander';
import { reasonOption, storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { order } from './pause.command.js';

export function resumeCommand(exit: SetExit): Command {
  return storeCommand('resume', 'resume writes; the bot executes what it planned meanwhile')
    .option('--org <name>', 'only this organization')
    .option('--rule <id>', 'only this rule or policy')
    .addOption(reasonOption())
    .action(async (options: { config: string; json: boolean; org?: string; rule?: string; reason?: string }) => {
      if (!(await order('resume', options, 'resumed'))) exit(1);
    });
}
