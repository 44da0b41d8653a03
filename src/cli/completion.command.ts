import { Command } from 'commander';
import { configOption } from './command-options.js';
import { writeFileText, writeOut } from './terminal.js';

/** Names that a shell takes as they are; forges allow no others. */
const PLAIN_NAME = /^[\w./-]+$/;

export function completionCommand(): Command {
  const command = new Command('completion').description('print the completion script of a shell');
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    command
      .command(shell)
      .description(`print the completion script of ${shell}`)
      .addHelpText('after', `\n${HOW[shell]}`)
      .action(async () => {
        const [{ COMPLETION_SCRIPTS }, { commandTable }] = await Promise.all([
          import('./completion-scripts.js'),
          import('./command-table.js'),
        ]);
        writeFileText(COMPLETION_SCRIPTS[shell](commandTable(rootOf(command))));
      });
  command
    .command('orgs')
    .description('print the organizations of the config, one a line; talks to nobody')
    .addOption(configOption())
    .action(async ({ config }: { config: string }) => {
      const { readConfig } = await import('../config/read-config.js');
      const { orgs } = readConfig(config, { reader: 'command' });
      for (const { label } of orgs) if (PLAIN_NAME.test(label)) writeOut(`${label}\n`);
    });
  return command;
}

const HOW = {
  bash: 'For every user: forgehand completion bash > /etc/bash_completion.d/forgehand',
  zsh: 'For every user: forgehand completion zsh > /usr/local/share/zsh/site-functions/_forgehand',
  fish: 'For you: forgehand completion fish > ~/.config/fish/completions/forgehand.fish',
};

/** The program that a command belongs to. */
export function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command;
}
