import type { Command } from 'commander';
import { UserError } from '../core/errors.js';
import { botCommand } from './bot-command.js';

interface ExplainOptions {
  readonly id?: string;
  readonly event?: string;
  readonly rule?: string;
  readonly revision?: string;
  readonly full: boolean;
}

export function explainCommand(): Command {
  return botCommand('explain', 'explain a run, an effect, or what the rules make of an event; asks no forge', {
    argument: 'id',
    check: ({ id, event, rule, revision }: ExplainOptions) => {
      if ((id === undefined) === (event === undefined))
        throw new UserError(
          'WHAT_TO_EXPLAIN',
          rule === undefined
            ? 'pass the id of a run or an effect, or --event <id>'
            : `pass --event <id>; why a schedule did not fire says forgehand schedules ${rule}`,
        );
      if (id !== undefined && (rule ?? revision) !== undefined)
        throw new UserError('WHAT_TO_EXPLAIN', '--rule and --revision need --event');
    },
    ask: (bot, { id, event, ...options }) => bot.call('explain', { ...options, id: id ?? event ?? '' }),
    show: async (explanation) => (await import('./print-explanation.js')).printExplanation(explanation),
  })
    .argument('[id]', 'id of a run or an intent, from `forgehand runs`')
    .option('--event <id>', 'explain what every rule makes of this event or delivery, closest first')
    .option('--rule <id>', 'with --event: explain why this rule did or did not fire')
    .option('--full', 'show all of each answer and result; without it, long ones are cut', false)
    .option('--revision <id>', 'with --event: use this revision; `active` is the current one');
}
