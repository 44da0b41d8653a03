import type { Command } from 'commander';
import { storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { order } from './pause.command.js';

export function resumeCommand(exit: SetExit): Command {
  return storeCommand('resume', 'take up writing again; what was planned meanwhile is done now')
    .option('--org <name>', 'the organization that was paused')
    .option('--rule <id>', 'the rule or policy that was paused')
    .action(async (options: { config: string; json: boolean; org?: string; rule?: string }) => {
      if (!(await order('resume', options, 'resumed'))) exit(1);
    });
}
