import type { Command } from 'commander';
import { ACTS } from '../api/lists.js';
import { botCommand } from './bot-command.js';
import { limitOption, orgOption } from './command-options.js';
import { beforeOption, footer } from './list-options.js';
import { listTable } from './print-list.js';

interface ActsOptions {
  readonly org?: string;
  readonly before?: string;
  readonly limit: number;
}

export function actsCommand(): Command {
  return botCommand('acts', 'list what people did, newest first, with reason and outcome', {
    ask: async (bot, options: ActsOptions) => (await bot.call('acts', options)).acts,
    show: (acts, { limit }) =>
      `${listTable(ACTS, acts)}${footer({ before: acts.length === limit ? acts.at(-1)?.id : null })}`,
  })
    .addOption(orgOption())
    .addOption(beforeOption())
    .addOption(limitOption());
}
