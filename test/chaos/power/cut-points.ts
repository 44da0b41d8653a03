import type { SeededRandom } from '../../../src/core/seeded-random.js';
import type { Recorded } from './journal.js';

export const CLASSES = ['random', 'checkpoint', 'log switch', 'first start', 'migration', 'archive'] as const;
export type CutClass = (typeof CLASSES)[number];

/** Cuts of each class, of 25 in all. */
const SHARES: Readonly<Record<CutClass, number>> = {
  random: 8,
  checkpoint: 5,
  'log switch': 3,
  'first start': 3,
  migration: 3,
  archive: 3,
};
const IN_ALL = 25;

export interface CutPoint {
  readonly of: CutClass;
  /** So many records are behind the disk when the power goes. */
  readonly index: number;
}

const isLog = (path: string): boolean => /^data\/db\/pg_wal\/([0-9A-F]{24}|xlogtemp)/.test(path);
const isSegment = (path: string): boolean => /^data\/db\/pg_wal\/[0-9A-F]{24}$/.test(path);

/**
 * Chooses where the power goes. Each class gets at least one cut.
 * @param from the first record that may be the last before a cut, but for the first start
 * @throws Error when the record holds no moment of a class
 */
export function cutPoints(
  records: readonly Recorded[],
  paths: readonly string[],
  classes: readonly CutClass[],
  cuts: number,
  random: SeededRandom,
  from = endOfFirstStart(paths),
): CutPoint[] {
  return classes.flatMap((of) => {
    const moments = momentsOf(of, records, paths, from);
    if (moments.length === 0) throw new Error(`the record holds no moment of "${of}"`);
    return Array.from({ length: Math.max(1, Math.round((cuts * SHARES[of]) / IN_ALL)) }, () => ({
      of,
      index: random.pick(moments),
    }));
  });
}

function momentsOf(of: CutClass, records: readonly Recorded[], paths: readonly string[], from: number): number[] {
  const all = records.map((_, n) => n);
  switch (of) {
    case 'first start':
      return all.filter((n) => n > 0 && n <= endOfFirstStart(paths));
    case 'random':
    case 'migration':
      return all.filter((n) => n > from);
    case 'archive': {
      const first = paths.findIndex((path) => path.startsWith('archive'));
      return first === -1 ? [] : all.filter((n) => n > first);
    }
    case 'checkpoint':
      return checkpoints(records, paths, from);
    case 'log switch':
      return logSwitches(records, paths, from);
  }
}

/**
 * The record after which the first start is over. It writes `db.flushed` last, then opens and flushes the folder. A version without that file starts
 * to work in the folder as soon as the folder has its name.
 */
export function endOfFirstStart(paths: readonly string[]): number {
  const mark = paths.lastIndexOf('data/db.flushed');
  return mark === -1 ? paths.findIndex((path) => path.startsWith('data/db/')) : mark + 2;
}

/** A checkpoint lasts from the first write or flush of a file that is not the log to the last record of the control file. */
function checkpoints(records: readonly Recorded[], paths: readonly string[], started: number): number[] {
  const moments: number[] = [];
  let begun: number | null = null;
  for (let n = started + 1; n < records.length; n += 1) {
    const path = paths[n] ?? '';
    if (!path.startsWith('data/db/') || isLog(path)) continue;
    if (path === 'data/db/global/pg_control') {
      for (let at = begun ?? n; at <= n + 1 && at < records.length; at += 1) moments.push(at);
      begun = null;
    } else if (records[n]?.op === 'write' || records[n]?.op === 'flush') begun ??= n;
  }
  return [...new Set(moments)];
}

/** From the making of a new segment of the log to the first writes into it. */
function logSwitches(records: readonly Recorded[], paths: readonly string[], started: number): number[] {
  const moments: number[] = [];
  let begun: number | null = null;
  for (let n = started + 1; n < records.length; n += 1) {
    const [record, path = ''] = [records[n], paths[n]];
    if (record?.op === 'open' && record.isNew && isLog(path)) begun = n;
    if (!(record?.op === 'rename' && isSegment(record.to.slice(record.to.indexOf('data/'))))) continue;
    for (let at = begun ?? n; at < Math.min(records.length, n + 20); at += 1) moments.push(at);
    begun = null;
  }
  return moments;
}
