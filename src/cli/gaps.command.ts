import type { Command } from 'commander';
import { COVERAGE, GAPS } from '../api/lists.js';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';
import { limitOption, orgOption } from './command-options.js';
import { listTable } from './print-list.js';
import { when } from './print.js';

export function gapsCommand(): Command {
  return botCommand('gaps', 'list lost deliveries, with cause and repair, and coverage by kind of event', {
    ask: (bot, options: SentTo<'gaps'>) => bot.call('gaps', options),
    show: ({ gaps, coverage, coveredSince }) =>
      [listTable(GAPS, gaps), '', `Events since ${when(coveredSince)} UTC:`, listTable(COVERAGE, coverage)].join('\n'),
  })
    .addOption(orgOption())
    .addOption(limitOption());
}
