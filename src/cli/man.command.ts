import { Command } from 'commander';
import { rootOf } from './completion.command.js';
import { writeFileText } from './terminal.js';

export function manCommand(): Command {
  const command = new Command('man').description('print the manual page: forgehand man | man -l -');
  return command.action(async () => {
    const [{ manualPage }, { commandTable }] = await Promise.all([
      import('./manual-page.js'),
      import('./command-table.js'),
    ]);
    writeFileText(manualPage(commandTable(rootOf(command))));
  });
}
