import { Option, type Command } from 'commander';
import { COVERAGE, GAPS } from '../api/lists.js';
import { storeCommand } from './bot-command.js';
import { limitOption, orgOption } from './command-options.js';
import { beforeOption, footer, type ListOptions } from './list-options.js';
import { everyPageOption, moreLine, pagesByTime, printPages } from './page-command.js';
import { listTable } from './print-list.js';
import { when } from './print.js';
import { withBot } from './reach-bot.js';

interface GapsOptions extends ListOptions {
  readonly search?: string;
  readonly coverageAfter?: string;
}

export function gapsCommand(): Command {
  return storeCommand('gaps', 'list lost deliveries, with cause and repair, and coverage by kind of event')
    .addOption(orgOption())
    .addOption(beforeOption())
    .addOption(limitOption())
    .addOption(everyPageOption())
    .option('--search <text>', 'only coverage of organizations or kinds whose names contain this text')
    .addOption(new Option('--coverage-after <next>', 'show the next page of the coverage'))
    .action((options: GapsOptions) =>
      withBot(options.config, async (bot) => {
        const { config: _config, json: _json, all: _all, before: _before, limit: _limit, ...query } = options;
        await printPages(pagesByTime(options), {
          page: ({ after, limit: most }) => bot.call('gaps', { ...query, before: after, limit: most }),
          show: ({ rows, next, coverage, coveredSince }) =>
            [
              `${listTable(GAPS, rows)}${footer({ before: next })}`,
              '',
              `Events since ${when(coveredSince)} UTC:`,
              `${listTable(COVERAGE, coverage.rows)}${moreLine(coverage, 'kind', 'kinds', (place) => `--coverage-after '${place}'`)}`,
            ].join('\n'),
        });
      }),
    );
}
