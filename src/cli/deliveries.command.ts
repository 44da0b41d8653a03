import type { Command } from 'commander';
import type { DeliveryReport } from '../api/operations/answers.js';
import { limitOption, orgOption } from './command-options.js';
import {
  allOption,
  beforeOption,
  effectsText,
  everyPageOf,
  hidesUnchanged,
  listed,
  type ListOptions,
  type IdList,
} from './list-options.js';
import { pagesByTime, printPages } from './page-command.js';
import { plain, print, state, when } from './print.js';
import { withBot } from './reach-bot.js';
import { storeCommand } from './bot-command.js';
import { aboutText, sourceText } from '../api/words.js';

export function deliveriesCommand(): Command {
  return storeCommand(
    'deliveries',
    'list deliveries and polled entries with their result, newest first; with an id, show one',
  )
    .argument('[delivery]', 'id of one delivery or entry')
    .addOption(orgOption())
    .addOption(allOption())
    .addOption(beforeOption())
    .addOption(limitOption())
    .action((id: string | undefined, options: ListOptions) =>
      withBot(options.config, async (bot) => {
        if (id !== undefined) {
          const arrival = await bot.call('delivery', { id });
          return print(options.json, arrival, () => listed([arrival], LIST, { hides: false, next: null }));
        }
        const { org } = options;
        const hides = hidesUnchanged(options);
        await printPages(pagesByTime(everyPageOf(options)), {
          page: ({ after, limit }) =>
            bot.call('deliveries', { org, changed: hides || undefined, before: after, limit }),
          show: ({ rows, next }) => listed(rows, LIST, { hides, next }),
        });
      }),
    );
}

const LIST: IdList<DeliveryReport> = {
  head: ['at (UTC)', 'id', 'from', 'event', 'about', 'by', 'state', 'repeats', 'what came of it'],
  empty: 'nothing has arrived',
  idOf: ({ id }) => id,
  cellsOf,
};

function cellsOf(arrival: DeliveryReport, short: (id: string) => string): string[] {
  const { about, effects, rules } = arrival;
  const detail = [arrival.code, arrival.reason].filter((text) => text !== null).join(': ');
  const outcome = effects.length > 0 ? `${rules.join(', ')}: ${effectsText(effects)}` : rules.join(', ');
  return [
    when(arrival.at),
    short(arrival.id),
    plain(`${sourceText(arrival)}${arrival.hook !== null && arrival.verdict === 'unsigned' ? ' (unsigned)' : ''}`),
    plain(arrival.eventKinds.join(', ') || (arrival.kind === 'entry' ? `row ${arrival.eventType}` : arrival.eventType)),
    plain(aboutText(about, arrival.org)),
    plain(about?.person ?? ''),
    state(arrival.state) + (arrival.archivedAt ? ', archived' : ''),
    arrival.repeats > 0 ? String(arrival.repeats) : '',
    [outcome, plain(detail)].filter((text) => text !== '').join('; '),
  ];
}
