import { Option, type Command } from 'commander';
import { FINDINGS } from '../api/lists.js';
import type { SentTo } from '../api/operations/index.js';
import { SEVERITIES } from '../core/finding.js';
import { botCommand } from './bot-command.js';
import { limitOption, orgOption, type SetExit } from './command-options.js';
import { listTable } from './print-list.js';

/** Exit: 0 everything holds, 1 something does not. */
export function findingsCommand(exit: SetExit): Command {
  return botCommand('findings', 'list policy violations', {
    ask: (bot, options: SentTo<'findings'>) => bot.call('findings', options),
    show: (findings) => listTable(FINDINGS, findings),
    after: (findings) => exit(findings.some(({ endedAt }) => endedAt === null) ? 1 : 0),
  })
    .addOption(orgOption())
    .option('--policy <id>', 'only this policy')
    .addOption(new Option('--severity <word>', 'only of this severity').choices([...SEVERITIES]))
    .option('--ended', 'include violations that have ended', false)
    .addOption(limitOption());
}
