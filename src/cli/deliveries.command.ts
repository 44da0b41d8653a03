import type { Command } from 'commander';
import type { DeliveryReport } from '../api/operations/answers.js';
import { limitOption, storeCommand } from './command-options.js';
import {
  aboutText,
  allOption,
  beforeOption,
  effectsText,
  footer,
  hidesUnchanged,
  type ListOptions,
} from './list-options.js';
import { plain, print, shortIds, state, table, when } from './print.js';
import { withBot } from './reach-bot.js';

interface DeliveriesOptions extends ListOptions {
  readonly config: string;
  readonly org?: string;
}

export function deliveriesCommand(): Command {
  return storeCommand(
    'deliveries',
    'list deliveries and polled entries, newest first, and what came of them; with an id, one of them',
  )
    .argument('[delivery]', 'id of one delivery or entry')
    .option('--org <name>', 'only this organization')
    .addOption(allOption())
    .addOption(beforeOption())
    .addOption(limitOption())
    .action((id: string | undefined, options: DeliveriesOptions) =>
      withBot(options.config, async (bot) => {
        if (id !== undefined) {
          const arrival = await bot.call('delivery', { id });
          return print(options.json, arrival, () => listed([arrival], { ...options, all: true }));
        }
        const { org, before, limit } = options;
        const changed = hidesUnchanged(options) ? true : undefined;
        const arrivals = await bot.call('deliveries', { org, before, limit, changed });
        print(options.json, arrivals, () => listed(arrivals, options));
      }),
    );
}

const HEAD = ['at (UTC)', 'id', 'from', 'event', 'about', 'by', 'state', 'repeats', 'what came of it'];

function listed(arrivals: readonly DeliveryReport[], options: DeliveriesOptions): string {
  const short = shortIds(arrivals.map(({ id }) => id));
  const last = arrivals.at(-1)?.id;
  const rows = arrivals.map((arrival) => row(arrival, short));
  return `${table(HEAD, rows, 'nothing has arrived')}${footer(arrivals.length, last && short(last), options)}`;
}

function row(arrival: DeliveryReport, short: (id: string) => string): string[] {
  const { about, effects, rules } = arrival;
  const from =
    arrival.source === 'webhook'
      ? `hook ${arrival.hook}${arrival.verdict === 'unsigned' ? ' (unsigned)' : ''}`
      : arrival.source;
  const told = [arrival.code, arrival.reason].filter((text) => text !== null).join(': ');
  const outcome = effects.length > 0 ? `${rules.join(', ')}: ${effectsText(effects)}` : rules.join(', ');
  return [
    when(arrival.at),
    short(arrival.id),
    plain(from),
    plain(arrival.eventKinds.join(', ') || (arrival.kind === 'entry' ? `row ${arrival.eventType}` : arrival.eventType)),
    aboutText(about) || plain(arrival.org),
    plain(about?.person ?? ''),
    state(arrival.state) + (arrival.archivedAt ? ', archived' : ''),
    arrival.repeats > 0 ? String(arrival.repeats) : '',
    [outcome, plain(told)].filter((text) => text !== '').join('; '),
  ];
}
