import type { Command } from 'commander';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';
import { reasonOption, type SetExit } from './command-options.js';

export function retryCommand(exit: SetExit): Command {
  return botCommand('retry', 'revive a dead letter or a refused intent', {
    argument: 'id',
    ask: (bot, options: SentTo<'retry'>) => bot.call('retry', options),
    show: ({ retried }, { id }) =>
      retried
        ? `intent ${id} is planned again`
        : `no intent ${id} can be revived: there is none, or it is neither dead nor refused`,
    after: ({ retried }) => exit(retried ? 0 : 1),
  })
    .argument('<intent>', 'id of the intent, from `forgehand runs <run>`')
    .addOption(reasonOption());
}
