import Table from 'cli-table3';
import { median, type Goal } from '../support/figures.js';
import type { Contestant } from './contestants.js';
import type { Run } from './rounds.js';

type Key = Contestant['key'];

const GOALS: ReadonlyArray<{
  readonly name: string;
  readonly wanted: Goal['wanted'];
  readonly of: (runs: readonly Run[]) => number | null;
}> = [
  { name: 'ingest-32', wanted: { atLeast: 1.5 }, of: (runs) => ratioOf(runs, 'a', 'b', 32) },
  { name: 'ingest-128', wanted: { atLeast: 2 }, of: (runs) => ratioOf(runs, 'a', 'b', 128) },
  { name: 'ingest-probot-128', wanted: { atLeast: 1 }, of: (runs) => ratioOf(runs, 'a', 'c', 128) },
  { name: 'ingest-probot-32 (stretch)', wanted: { atLeast: 1 }, of: (runs) => ratioOf(runs, 'a', 'c', 32) },
  {
    name: 'ingest-p99-32 (at most)',
    wanted: { atMost: 1 },
    of: (runs) => ratioOf(runs, 'a', 'b', 32, ({ p99Ms }) => p99Ms),
  },
  { name: 'ingest-rss (MB, at most)', wanted: { atMost: 150 }, of: (runs) => rssOf(runs, 'a') },
];

export function goalsOf(runs: readonly Run[]): Goal[] {
  return GOALS.map(({ name, wanted, of }) => ({ name, wanted, measured: of(runs) }));
}

/** Median over the rounds of one's figure by the other's in the same round. Default: their rates. */
export function ratioOf(
  runs: readonly Run[],
  one: Key,
  other: Key,
  connections: number,
  figureOf: (run: Run) => number = ({ perSecond }) => perSecond,
): number | null {
  const ratios = runs
    .filter((run) => run.server === one && run.connections === connections)
    .flatMap((run) => {
      const pair = runs.find(
        (its) => its.server === other && its.connections === connections && its.round === run.round,
      );
      return pair ? [figureOf(run) / figureOf(pair)] : [];
    });
  return ratios.length > 0 ? median(ratios) : null;
}

/** The largest resident set after a run, in MB. */
function rssOf(runs: readonly Run[], one: Key): number | null {
  const sizes = runs.filter(({ server }) => server === one).flatMap(({ rss }) => rss ?? []);
  return sizes.length > 0 ? Math.max(...sizes) / 1e6 : null;
}

export function tableOf(
  runs: readonly Run[],
  contestants: readonly Contestant[],
  connections: readonly number[],
): string {
  const others = contestants.map(({ key }) => key).filter((key) => key !== 'a');
  const table = new Table({
    head: [
      'connections',
      'server',
      'per s',
      'p50 ms',
      'p99 ms',
      'RSS MB',
      'CPU us',
      'DB us',
      ...others.map((key) => `x (${key})`),
    ],
    style: { head: [], border: [] },
    colAligns: ['right', 'left', ...Array.from({ length: 6 + others.length }, () => 'right' as const)],
  });
  for (const count of connections) {
    for (const { key, name } of contestants) {
      const its = runs.filter((run) => run.server === key && run.connections === count);
      table.push([
        count,
        `(${key}) ${name}`,
        median(its.map((run) => run.perSecond)).toFixed(0),
        median(its.map((run) => run.p50Ms)).toFixed(1),
        median(its.map((run) => run.p99Ms)).toFixed(1),
        figure(rssOf(its, key) ?? NaN),
        figure(median(its.map((run) => run.cpuUs ?? NaN))),
        figure(median(its.map((run) => run.databaseCpuUs ?? NaN))),
        ...others.map((other) => ratioOf(runs, key, other, count)?.toFixed(2) ?? ''),
      ]);
    }
  }
  return table.toString();
}

function figure(value: number): string {
  return Number.isFinite(value) ? value.toFixed(0) : '-';
}
