import type { Command } from 'commander';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';
import { orgOption, reasonOption, type SetExit } from './command-options.js';

export function pauseCommand(): Command {
  return botCommand('pause', 'pause all writes to the forge; arrivals are still stored and decided', {
    ask: (bot, options: SentTo<'pause'>) => bot.call('pause', withoutEmpty(options)),
    show: (_, options) => `paused: ${covered(options)}`,
  })
    .addOption(orgOption())
    .option('--rule <id>', 'only this rule or policy')
    .option('--reason <text>', 'reason, shown by `forgehand status`');
}

export function resumeCommand(exit: SetExit): Command {
  return botCommand('resume', 'resume writes; the bot executes what it planned meanwhile', {
    ask: (bot, options: SentTo<'resume'>) => bot.call('resume', withoutEmpty(options)),
    show: ({ resumed }, options) => (resumed ? `resumed: ${covered(options)}` : `${covered(options)} was not paused`),
    after: ({ resumed }) => exit(resumed ? 0 : 1),
  })
    .addOption(orgOption())
    .option('--rule <id>', 'only this rule or policy')
    .addOption(reasonOption());
}

/** An empty option is none. */
function withoutEmpty<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== '')) as Options;
}

function covered({ org, rule }: SentTo<'pause'>): string {
  return [org && `organization ${org}`, rule && `rule ${rule}`].filter(Boolean).join(', ') || 'everything';
}
