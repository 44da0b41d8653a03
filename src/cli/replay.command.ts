import type { Command } from 'commander';
import type { ReplayReport } from '../api/operations/answers.js';
import { reasonOption } from './command-options.js';
import { plain, state, when } from './print.js';
import { colour } from './terminal.js';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';
import { counted } from '../api/words.js';

export function replayCommand(): Command {
  return botCommand('replay', 'evaluate a stored arrival again; ended effects are not repeated', {
    argument: 'id',
    ask: (bot, options: SentTo<'replay'>) => bot.call('replay', options),
    show: describe,
  })
    .argument('<arrival>', 'id of the delivery or entry, from `forgehand deliveries`')
    .addOption(reasonOption());
}

function describe({ eventIds, newRuns, details, archivedAt }: ReplayReport): string {
  return [
    ...(archivedAt
      ? [colour.yellow(`its body was given up on ${when(archivedAt)} UTC (retention); its events are still there`)]
      : []),
    eventIds.length === 0
      ? 'this arrival made no event'
      : `evaluated event ${eventIds.join(', ')} again: ${counted(newRuns, 'new run')}`,
    ...details.map(
      ({ rule, verdict, reason }) => `  ${String(rule)}  ${state(String(verdict))}  ${plain(String(reason))}`,
    ),
  ].join('\n');
}
