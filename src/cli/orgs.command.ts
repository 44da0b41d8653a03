import { Command } from 'commander';
import { storeCommand } from './command-options.js';
import { plain, print } from './print.js';
import { withBot } from './reach-bot.js';

interface Options {
  readonly config: string;
  readonly json: boolean;
  readonly number?: string;
}

export function orgsCommand(): Command {
  const accept = storeCommand(
    'accept',
    'work for the organization that has this name now, instead of the one that had it before',
  )
    .argument('<name>', 'name of the organization')
    .option('--number <n>', 'accept exactly this number; without it, the one that the alert named')
    .action((org: string, { config, json, number: wanted }: Options) =>
      withBot(config, async (bot) => {
        const accepted = await bot.call('acceptOrg', { org, ...(wanted === undefined ? {} : { number: wanted }) });
        const { number, before } = accepted;
        print(
          json,
          accepted,
          () => `accepted: ${plain(accepted.org)} is organization number ${number} (before: ${before ?? 'none'})`,
        );
      }),
    );
  return new Command('orgs').description('organizations of the config').addCommand(accept);
}
