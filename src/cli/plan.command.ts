import type { Command } from 'commander';
import { storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';
import { whichOrg } from './which-org.js';

interface PlanOptions {
  config: string;
  json: boolean;
  all: boolean;
  org?: string;
  policy?: string;
}

/** Exit: 0 nothing to change, 4 there are changes, 1 a limit stops the plan, a policy is held back, or something could not be decided. */
export function planCommand(exit: SetExit): Command {
  return storeCommand('plan', 'show what the policies would change; writes nothing')
    .option('--org <name>', 'organization. Required when the config has several')
    .option('--policy <id>', 'only this policy')
    .option('--all', 'list each change of each repository, with the values before and after. JSON always does', false)
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing to change, 4 there are changes, 1 a limit stops the plan, a policy is held back, or something could not be decided.',
    )
    .action((options: PlanOptions) =>
      withBot(options.config, async (bot) => {
        const org = whichOrg(bot.config, options.org).name;
        const { describePlan } = await import('./print-plan.js');
        const plan = await bot.call('plan', { org, policy: options.policy });
        print(options.json, plan, () => describePlan(plan, { all: options.all, now: new Date() }));
        exit(plan.overCaps.length + plan.heldBack.length + plan.notes.length > 0 ? 1 : plan.lines.length > 0 ? 4 : 0);
      }),
    );
}
