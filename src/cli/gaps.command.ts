import type { Command } from 'commander';
import type { GapReport } from '../api/operations/answers.js';
import { limitOption, storeCommand } from './command-options.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';

export function gapsCommand(): Command {
  return storeCommand('gaps', 'list lost deliveries, with cause and repair, and coverage by kind of event')
    .option('--org <name>', 'only this organization')
    .addOption(limitOption())
    .action((options: { config: string; json: boolean; org?: string; limit: number }) =>
      withBot(options.config, async (bot) => {
        const report = await bot.call('gaps', { org: options.org, limit: options.limit });
        print(options.json, report, () => describe(report));
      }),
    );
}

function describe({ gaps, coverage, coveredSince }: GapReport): string {
  const missed = table(
    ['found (UTC)', 'happened', 'org', 'what', 'where', 'row', 'class', 'outcome', 'why'],
    gaps.map(row),
    'no gap: every row that was read has its delivery',
  );
  const kinds = coverage.map((one) => [
    one.org,
    one.kind,
    String(one.both),
    String(one.webhook),
    String(one.rows),
    one.visibleIn ?? 'deliveries alone',
  ]);
  const covered = table(
    ['org', 'kind', 'in both', 'deliveries alone', 'feed rows alone', 'a lost delivery is visible in'],
    kinds,
    'no event yet',
  );
  return [missed, '', `Events since ${when(coveredSince)} UTC:`, covered].join('\n');
}

function row(gap: GapReport['gaps'][number]): string[] {
  const what = gap.kind ?? 'a row of an unknown kind';
  return [
    when(gap.foundAt),
    when(gap.factAt),
    gap.org,
    what,
    plain(gap.repo ?? '-'),
    `${gap.source} ${plain(gap.entryKey)}`,
    gap.class,
    gap.lateByS === null ? gap.outcome : `late by ${gap.lateByS} s`,
    plain(gap.reason),
  ];
}
