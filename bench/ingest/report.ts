import Table from 'cli-table3';
import { median, type Goal } from '../support/figures.js';
import type { Contestant } from './contestants.js';
import type { Run } from './rounds.js';

type Key = Contestant['key'];

interface Wanted {
  readonly name: string;
  readonly wanted: number;
  readonly over: Key;
  readonly connections: number;
}

const WANTED: readonly Wanted[] = [
  { name: 'ingest-32', wanted: 1.2, over: 'b', connections: 32 },
  { name: 'ingest-128', wanted: 1.8, over: 'b', connections: 128 },
  { name: 'ingest-probot (stretch)', wanted: 1.0, over: 'c', connections: 128 },
];

export function goalsOf(runs: readonly Run[]): Goal[] {
  return WANTED.map(({ name, wanted, over, connections }) => ({
    name,
    wanted: { atLeast: wanted },
    measured: ratioOf(runs, 'a', over, connections),
  }));
}

/** Median over the rounds of one's rate by the other's in the same round. */
export function ratioOf(runs: readonly Run[], one: Key, other: Key, connections: number): number | null {
  const ratios = runs
    .filter((run) => run.server === one && run.connections === connections)
    .flatMap((run) => {
      const pair = runs.find(
        (its) => its.server === other && its.connections === connections && its.round === run.round,
      );
      return pair ? [run.perSecond / pair.perSecond] : [];
    });
  return ratios.length > 0 ? median(ratios) : null;
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
        figure(Math.max(...its.map((run) => (run.rss ?? NaN) / 1e6))),
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
