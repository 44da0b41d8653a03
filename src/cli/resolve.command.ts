import type { Command } from 'commander';
import { UserError } from '../core/errors.js';
import { reasonOption } from './command-options.js';
import type { SetExit } from './command-options.js';
import { botCommand } from './bot-command.js';

interface Options {
  readonly id: string;
  readonly exists?: boolean;
  readonly absent?: boolean;
  readonly reason?: string;
}

export function resolveCommand(exit: SetExit): Command {
  return botCommand('resolve', 'record the outcome of a call that cannot be read back; look at the forge first', {
    argument: 'id',
    check: ({ exists = false, absent = false }: Options) => {
      if (exists === absent) throw new UserError('RESOLVE_HOW', 'pass either --exists or --absent');
    },
    ask: (bot, { id, exists = false, reason }) => bot.call('resolve', { id, exists, reason }),
    show: ({ resolved }, { id, exists }) =>
      resolved
        ? `intent ${id} is ${exists ? 'done' : 'planned again'}`
        : `intent ${id} does not wait for a person: nothing to resolve`,
    after: ({ resolved }) => exit(resolved ? 0 : 1),
  })
    .argument('<intent>', 'id of the waiting intent, from `forgehand runs` or the alert')
    .option('--exists', 'the effect exists: the intent is done')
    .option('--absent', 'the effect does not exist: the bot plans the intent again and repeats the call')
    .addOption(reasonOption());
}
