import type { Command } from 'commander';
import type { ArrivalSummary } from '../pipeline/inbox-store.port.js';
import { limitOption, storeCommand } from './command-options.js';
import { plain, print, state, table, when } from './print.js';
import { withBot } from './reach-bot.js';

export function deliveriesCommand(): Command {
  return storeCommand('deliveries', 'list deliveries and polled entries, newest first, and their events')
    .option('--org <name>', 'only this organization')
    .addOption(limitOption())
    .action((options: { config: string; json: boolean; org?: string; limit: number }) =>
      withBot(options.config, async (bot) => {
        const arrivals = await bot.call('deliveries', { org: options.org, limit: options.limit });
        print(options.json, arrivals, () =>
          table(
            ['at (UTC)', 'id', 'org', 'from', 'type', 'state', 'event', 'repeats'],
            arrivals.map(row),
            'nothing has arrived yet',
          ),
        );
      }),
    );
}

function row(arrival: ArrivalSummary): string[] {
  const from =
    arrival.source === 'webhook'
      ? `hook ${arrival.hook}${arrival.verdict === 'unsigned' ? ' (unsigned)' : ''}`
      : arrival.source;
  const told = [arrival.code, arrival.reason].filter((text) => text !== null).join(': ');
  const event = arrival.eventKinds.join(', ') || told || '-';
  return [
    when(arrival.at),
    arrival.id,
    arrival.org,
    plain(from),
    plain(arrival.kind === 'entry' ? `row ${arrival.eventType}` : arrival.eventType),
    state(arrival.state) + (arrival.archivedAt ? ', archived' : ''),
    plain(event),
    arrival.repeats > 0 ? String(arrival.repeats) : '',
  ];
}
