import type { Command } from 'commander';
import { reasonOption, storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';

export function retryCommand(exit: SetExit): Command {
  return storeCommand('retry', 'revive a dead letter or a refused intent')
    .argument('<intent>', 'id of the intent, from `forgehand runs <run>`')
    .addOption(reasonOption())
    .action((id: string, options: { config: string; json: boolean; reason?: string }) =>
      withBot(options.config, async (bot) => {
        const answer = await bot.call('retry', { id, reason: options.reason });
        print(options.json, answer, () =>
          answer.retried
            ? `intent ${id} is planned again`
            : `no intent ${id} can be revived: there is none, or it is neither dead nor refused`,
        );
        if (!answer.retried) exit(1);
      }),
    );
}
