import type { Command } from 'commander';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';
import { reasonOption, type SetExit } from './command-options.js';

export function releaseCommand(exit: SetExit): Command {
  return botCommand('release', 'release a quarantined item and decide it again', {
    argument: 'id',
    ask: (bot, options: SentTo<'release'>) => bot.call('release', options),
    show: ({ released }, { id }) =>
      released ? `${id} is decided once more` : `${id} is not quarantined: nothing to release`,
    after: ({ released }) => exit(released ? 0 : 1),
  })
    .argument('<id>', 'id of the arrival or event, from `forgehand status`, `forgehand deliveries` or the alert')
    .addOption(reasonOption());
}
