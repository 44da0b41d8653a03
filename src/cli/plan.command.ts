import type { Command } from 'commander';
import type { SetExit } from './command-options.js';
import { whichOrg } from './which-org.js';
import { botCommand } from './bot-command.js';

/** Exit: 0 nothing to change, 4 there are changes, 1 a limit stops the plan, a policy is held back, or something could not be decided. */
export function planCommand(exit: SetExit): Command {
  return botCommand('plan', 'show what the policies would change; writes nothing', {
    ask: (bot, { org, policy }: { org?: string; policy?: string; all: boolean }) =>
      bot.call('plan', { org: whichOrg(bot.config, org).label, policy }),
    show: async (plan, { all }) => (await import('./print-plan.js')).describePlan(plan, { all, now: new Date() }),
    after: ({ overCaps, heldBack, notes, lines }) =>
      exit(overCaps.length + heldBack.length + notes.length > 0 ? 1 : lines.length > 0 ? 4 : 0),
  })
    .option('--org <name>', 'organization. Required when the config has several')
    .option('--policy <id>', 'only this policy')
    .option('--all', 'list each change of each repository, with the values before and after. JSON always does', false)
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing to change, 4 there are changes, 1 a limit stops the plan, a policy is held back, or something could not be decided.',
    );
}
