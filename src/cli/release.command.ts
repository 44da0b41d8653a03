import type { Command } from 'commander';
import { reasonOption, storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';

export function releaseCommand(exit: SetExit): Command {
  return storeCommand('release', 'release a quarantined item and decide it again')
    .argument('<id>', 'id of the arrival or event, from `forgehand status`, `forgehand deliveries` or the alert')
    .addOption(reasonOption())
    .action((id: string, options: { config: string; json: boolean; reason?: string }) =>
      withBot(options.config, async (bot) => {
        const answer = await bot.call('release', { id, reason: options.reason });
        print(options.json, answer, () =>
          answer.released ? `${id} is decided once more` : `${id} is not quarantined: nothing to release`,
        );
        if (!answer.released) exit(1);
      }),
    );
}
