import type { Command } from 'commander';
import { ACTS } from '../api/lists.js';
import { storeCommand, type BotOptions } from './bot-command.js';
import { limitOption, orgOption } from './command-options.js';
import { beforeOption, footer } from './list-options.js';
import { everyPageOption, pagesByTime, printPages } from './page-command.js';
import { listTable } from './print-list.js';
import { withBot } from './reach-bot.js';

interface ActsOptions extends BotOptions {
  readonly org?: string;
  readonly before?: string;
  readonly limit: number;
  readonly all: boolean;
}

export function actsCommand(): Command {
  return storeCommand('acts', 'list what people did, newest first, with reason and outcome')
    .addOption(orgOption())
    .addOption(beforeOption())
    .addOption(limitOption())
    .addOption(everyPageOption())
    .action((options: ActsOptions) =>
      withBot(options.config, async (bot) => {
        const { org } = options;
        await printPages(pagesByTime(options), {
          page: ({ after, limit }) => bot.call('acts', { org, before: after, limit }),
          show: ({ rows, next }) => `${listTable(ACTS, rows)}${footer({ before: next })}`,
        });
      }),
    );
}
