import { Command } from 'commander';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';
import { plain } from './print.js';

export function orgsCommand(): Command {
  const accept = botCommand(
    'accept',
    'work for the organization that has this name now, instead of the one that had it before',
    {
      argument: 'org',
      ask: (bot, options: SentTo<'acceptOrg'>) => bot.call('acceptOrg', options),
      show: ({ org, number, before }) =>
        `accepted: ${plain(org)} is organization number ${number} (before: ${before ?? 'none'})`,
    },
  )
    .argument('<name>', 'name of the organization, or FORGE/NAME')
    .option('--number <n>', 'accept exactly this number; without it, the one that the alert named');
  return new Command('orgs').description('organizations of the config').addCommand(accept);
}
