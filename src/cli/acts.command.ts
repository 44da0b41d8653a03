import type { Command } from 'commander';
import type { Act } from '../api/act-store.port.js';
import { limitOption, storeCommand } from './command-options.js';
import { beforeOption, footer } from './list-options.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';

interface ActsOptions {
  readonly config: string;
  readonly json: boolean;
  readonly org?: string;
  readonly before?: string;
  readonly limit: number;
}

export function actsCommand(): Command {
  return storeCommand('acts', 'list what people did, newest first, with reason and outcome')
    .option('--org <name>', 'only this organization')
    .addOption(beforeOption())
    .addOption(limitOption())
    .action(({ config, json, ...page }: ActsOptions) =>
      withBot(config, async (bot) => {
        const { acts } = await bot.call('acts', page);
        print(json, acts, () => {
          const head = ['when (UTC)', 'who', 'what', 'org', 'about', 'outcome', 'reason'];
          const last = acts.length === page.limit ? acts.at(-1) : undefined;
          return `${table(head, acts.map(row), 'no acts yet')}${footer({ before: last?.id })}`;
        });
      }),
    );
}

function row({ at, by, operation, org, about, outcome, reason }: Pick<Act, keyof Act>): string[] {
  const facts = Object.entries(about).map(([name, value]) => `${name} ${String(value)}`);
  return [when(at), by, operation, org ?? '-', facts.join(', '), outcome ?? 'no outcome', reason ?? '-'].map(plain);
}
