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
        const { OPERATIONS, isOperation } = await import('../api/operations/index.js');
        const { acts } = await bot.call('acts', page);
        print(json, acts, () => {
          const wordsOf = (name: string): string => {
            const { command = null } = isOperation(name) ? OPERATIONS[name] : {};
            return typeof command === 'string' ? command : name;
          };
          const head = ['when (UTC)', 'who', 'what', 'org', 'about', 'outcome', 'reason'];
          const last = acts.length === page.limit ? acts.at(-1) : undefined;
          return `${table(
            head,
            acts.map((act) => row(act, wordsOf(act.operation))),
            'no acts yet',
          )}${footer({ before: last?.id })}`;
        });
      }),
    );
}

/** @param what the command that does it */
function row({ at, by, org, about, outcome, reason }: Act, what: string): string[] {
  const facts = Object.entries(about).map(([name, value]) => `${name} ${String(value)}`);
  return [when(at), by, what, org ?? '-', facts.join(', '), outcome ?? 'no outcome', reason ?? '-'].map(plain);
}
