import type { Command } from 'commander';
import { UserError } from '../core/errors.js';
import { storeCommand } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';

interface ExplainOptions {
  config: string;
  json: boolean;
  event?: string;
  rule?: string;
  revision?: string;
  full: boolean;
}

export function explainCommand(): Command {
  return storeCommand('explain', 'explain a run, an effect, or what the rules make of an event; asks no forge')
    .argument('[id]', 'id of a run or an intent, from `forgehand runs`')
    .option('--event <id>', 'explain what every rule makes of this event or delivery, closest first')
    .option('--rule <id>', 'with --event: explain why this rule did or did not fire')
    .option('--full', 'show all of each answer and result; without it, long ones are cut', false)
    .option('--revision <id>', 'with --event: use this revision; `active` is the current one')
    .action((id: string | undefined, options: ExplainOptions) => {
      const asked = id ?? options.event;
      if (asked === undefined || (id !== undefined && options.event !== undefined))
        throw new UserError(
          'WHAT_TO_EXPLAIN',
          options.rule === undefined
            ? 'pass the id of a run or an effect, or --event <id>'
            : `pass --event <id>; why a schedule did not fire says forgehand schedules ${options.rule}`,
        );
      if (id !== undefined && (options.rule ?? options.revision) !== undefined)
        throw new UserError('WHAT_TO_EXPLAIN', '--rule and --revision need --event');
      return withBot(options.config, async (bot) => {
        const { printExplanation } = await import('./print-explanation.js');
        const explanation = await bot.call('explain', {
          id: asked,
          rule: options.rule,
          revision: options.revision,
          full: options.full,
        });
        print(options.json, explanation, () => printExplanation(explanation));
      });
    });
}
