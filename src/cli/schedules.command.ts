import type { Command } from 'commander';
import { SCHEDULES } from '../api/lists.js';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';
import { orgOption } from './command-options.js';
import { listTable } from './print-list.js';

export function schedulesCommand(): Command {
  return botCommand('schedules', 'list schedules of rules and policies: last run, next run, and why one did not run', {
    argument: 'rule',
    ask: (bot, options: SentTo<'schedules'>) => bot.call('schedules', options),
    show: (schedules) => listTable(SCHEDULES, schedules),
  })
    .argument('[rule]', 'id of one rule or policy')
    .addOption(orgOption());
}
