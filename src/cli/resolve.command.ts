import type { Command } from 'commander';
import { UserError } from '../core/errors.js';
import { reasonOption, storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';

interface Options {
  config: string;
  json: boolean;
  exists?: boolean;
  absent?: boolean;
  reason?: string;
}

export function resolveCommand(exit: SetExit): Command {
  return storeCommand('resolve', 'record the outcome of a call that cannot be read back; look at the forge first')
    .argument('<intent>', 'id of the waiting intent, from `forgehand runs` or the alert')
    .option('--exists', 'the effect exists: the intent is done')
    .option('--absent', 'the effect does not exist: the bot plans the intent again and repeats the call')
    .addOption(reasonOption())
    .action((id: string, options: Options) => {
      if ((options.exists === true) === (options.absent === true))
        throw new UserError('RESOLVE_HOW', 'pass either --exists or --absent');
      return withBot(options.config, async (bot) => {
        const answer = await bot.call('resolve', { id, exists: options.exists === true, reason: options.reason });
        const told = options.exists === true ? 'is done' : 'is planned again';
        print(options.json, answer, () =>
          answer.resolved ? `intent ${id} ${told}` : `intent ${id} does not wait for a person: nothing to resolve`,
        );
        if (!answer.resolved) exit(1);
      });
    });
}
