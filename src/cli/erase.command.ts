import { Command } from 'commander';
import { plain, print } from './print.js';
import { withBot } from './reach-bot.js';
import { writeErr } from './terminal.js';
import { storeCommand, type BotOptions } from './bot-command.js';

interface EraseOptions extends BotOptions {
  readonly forge?: string;
  readonly address: string[];
  readonly dryRun: boolean;
}

export function eraseCommand(): Command {
  return storeCommand('erase', 'erase the texts and addresses of a person from the store; keys and counts stay')
    .argument('<user>', 'name of the account at the forge')
    .option('--forge <id>', 'forge of the account. Required when the config has several')
    .option('--address <address>', 'another e-mail address of the person; repeat the option for several', collect, [])
    .option('--dry-run', 'count what would be erased, and change nothing', false)
    .action((login: string, { config, json, forge, address, dryRun }: EraseOptions) =>
      withBot(config, async (bot) => {
        const report = await bot.call('erase', { login, forge, addresses: address, dryRun });
        print(json, report, () => {
          const { arrivals, events, runs, acts, addresses } = report;
          const what = `texts of ${plain(login)} in ${arrivals} bodies, ${events} events, ${runs} runs and ${acts} acts`;
          const addressText = addresses.length === 0 ? '' : `; addresses: ${addresses.map(plain).join(', ')}`;
          return `${dryRun ? 'would erase' : 'erased'} ${what}${addressText}`;
        });
        if (json) return;
        writeErr('Not erased: unfinished work (run the command again later), backups, logs, and the forge itself.\n');
        if (report.archive !== null) writeErr(`The archive keeps its bodies too: ${plain(report.archive)}\n`);
      }),
    );
}

function collect(one: string, before: string[]): string[] {
  return [...before, one];
}
