import { countsInWords } from '../core/call-counts.js';
import { revisionId, shortRevision } from '../core/ids.js';
import { operationInWords } from '../forge/operation-words.js';
import type { BacktestReport, BacktestRule, Difference } from '../insight/backtest/backtest-report.js';
import { plain, when } from './print.js';
import { colour } from './terminal.js';
import { BACKTEST } from '../api/lists.js';
import { listTable } from './print-list.js';

export function printBacktest(report: BacktestReport, withSamples: boolean): string {
  const { org, events, decisions, since, until, revision, rules, calls, hash, notes } = report;
  const silent = rules.filter(isSilent);
  const visibleRules = rules.filter((rule) => !isSilent(rule));
  return [
    `${colour.bold(org)}: ${events} events from ${when(since)} to ${when(until)} UTC, ${decisions} decisions by revision ${shortRevision(revisionId(org, revision))}`,
    '',
    listTable(BACKTEST, visibleRules),
    ...(silent.length > 0
      ? [colour.dim(`not started by any of them: ${silent.map(({ rule }) => rule).join(', ')}`)]
      : []),
    ...(withSamples ? visibleRules.flatMap(samplesOf) : []),
    '',
    `API calls, at most: ${countsInWords(calls, operationInWords) || 'none'}`,
    ...notes.map((note) => colour.yellow(note)),
    'Scheduled runs are not part of a back-test.',
    `hash ${hash}`,
  ].join('\n');
}

function isSilent({ would, did }: BacktestRule): boolean {
  return [...Object.values(would), ...Object.values(did)].every((count) => count === 0);
}

const TITLES: ReadonlyArray<readonly [keyof BacktestRule['differences'], string]> = [
  ['firesNow', 'would fire, and did not'],
  ['firesNoMore', 'fired, and would not'],
  ['otherEffects', 'fires as before, and wants other things'],
  ['failsNow', 'would end as an error, and did not'],
  ['unknown', 'unknown'],
];

function samplesOf({ rule, differences, calls, unknownLookups }: BacktestRule): string[] {
  const parts = TITLES.flatMap(([kind, title]) =>
    differences[kind].count === 0 ? [] : samples(title, differences[kind]),
  );
  const unknown = textOf(unknownLookups);
  const callText = countsInWords(calls, operationInWords);
  const facts = [
    ...(callText ? [colour.dim(`  calls, at most: ${callText}`)] : []),
    ...(unknown ? [colour.dim(`  answers not held: ${unknown}`)] : []),
  ];
  return parts.length === 0 ? [] : ['', colour.bold(rule), ...facts, ...parts];
}

function samples(title: string, { count, samples: some }: Difference): string[] {
  return [
    `  ${count} ${title}${count > some.length ? `, the first ${some.length}` : ''}:`,
    ...some.map(
      ({ eventId, kind, repo, storedAt, why }) =>
        `    ${eventId}  ${when(storedAt)}  ${kind}  ${plain(repo ?? '-')}  ${plain(why)}`,
    ),
  ];
}

function textOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
