import type { Command } from 'commander';
import type { AnswerOf } from '../api/operations/index.js';
import { counted } from '../api/words.js';
import { botCommand } from './bot-command.js';
import { plain } from './print.js';

/** More names are in `--json`. */
const NAMED = 10;

export function reloadCommand(): Command {
  return botCommand('reload', 'read the config again and follow the organizations in it, without a restart', {
    ask: (bot) => bot.call('reload', {}),
    show: ({ here, elsewhere }: AnswerOf<'reload'>) =>
      [
        ...(here ? describe(here) : []),
        ...(elsewhere
          ? [
              'told the other processes: each reads its own config within five seconds; forgehand status shows one that could not',
            ]
          : []),
      ].join('\n'),
  });
}

function describe({ added, removed, changed, needsRestart }: NonNullable<AnswerOf<'reload'>['here']>): string[] {
  const parts = [
    [added, 'added'],
    [removed, 'removed'],
    [changed, 'changed'],
  ] as const;
  const lines = parts
    .filter(([names]) => names.length > 0)
    .map(([names, what]) => `${counted(names.length, 'organization')} ${what}: ${shorten(names)}`);
  return [
    ...(lines.length > 0 ? lines : ['no organization was added, removed or changed']),
    ...(needsRestart.length > 0 ? [`takes effect after a restart: ${needsRestart.join(', ')}`] : []),
  ];
}

function shorten(names: readonly string[]): string {
  const more = names.length > NAMED ? `, and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).map(plain).join(', ')}${more}`;
}
