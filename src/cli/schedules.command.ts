import type { Command } from 'commander';
import { SCHEDULES } from '../api/lists.js';
import type { SentTo } from '../api/operations/index.js';
import { orgOption } from './command-options.js';
import { moreLine, pageCommand } from './page-command.js';
import { listTable } from './print-list.js';

export function schedulesCommand(): Command {
  return pageCommand('schedules', 'list schedules of rules and policies: last run, next run, and why one did not run', {
    argument: 'rule',
    page: (bot, options: SentTo<'schedules'>) => bot.call('schedules', options),
    show: (page) => `${listTable(SCHEDULES, page.rows)}${moreLine(page, 'schedule')}`,
  })
    .argument('[rule]', 'id of one rule or policy')
    .addOption(orgOption());
}
