import { Command } from 'commander';
import { storeCommand } from './command-options.js';
import { plain, print } from './print.js';
import { withBot } from './reach-bot.js';

interface Options {
  readonly config: string;
  readonly json: boolean;
}

export function orgsCommand(): Command {
  const accept = storeCommand(
    'accept',
    'work for the organization that has this name now, instead of the one that had it before',
  )
    .argument('<name>', 'name of the organization')
    .action((org: string, { config, json }: Options) =>
      withBot(config, async (bot) => {
        const accepted = await bot.call('acceptOrg', { org });
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
