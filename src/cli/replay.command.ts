import type { Command } from 'commander';
import type { ReplayReport } from '../api/operations/answers.js';
import { reasonOption, storeCommand } from './command-options.js';
import { plain, print, state, when } from './print.js';
import { withBot } from './reach-bot.js';
import { colour } from './terminal.js';

export function replayCommand(): Command {
  return storeCommand('replay', 'evaluate a stored arrival again; ended effects are not repeated')
    .argument('<arrival>', 'id of the delivery or entry, from `forgehand deliveries`')
    .addOption(reasonOption())
    .action((id: string, options: { config: string; json: boolean; reason?: string }) =>
      withBot(options.config, async (bot) => {
        const report = await bot.call('replay', { id, reason: options.reason });
        print(options.json, report, () => describe(report));
      }),
    );
}

function describe({ eventIds, newRuns, details, archivedAt }: ReplayReport): string {
  return [
    ...(archivedAt
      ? [colour.yellow(`its body was given up on ${when(archivedAt)} UTC (retention); its events are still there`)]
      : []),
    eventIds.length === 0
      ? 'this arrival made no event'
      : `evaluated event ${eventIds.join(', ')} again: ${newRuns} new run${newRuns === 1 ? '' : 's'}`,
    ...details.map(
      ({ rule, verdict, reason }) => `  ${String(rule)}  ${state(String(verdict))}  ${plain(String(reason))}`,
    ),
  ].join('\n');
}
