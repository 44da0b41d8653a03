import type { Played } from './play.js';

/** A statement with what it cost in both stores, at worst of its samples. */
export interface Cost {
  readonly text: string;
  readonly isPlanned: boolean;
  /** Null = it could not be played. */
  readonly small: Played | null;
  readonly large: Played | null;
}

export interface Exception {
  /** A part of the statement's text. */
  readonly has: string;
  readonly because: string;
}

/** Statements that may read all, with the reason. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    has: "UPDATE arrivals SET body = '', archived_at",
    because: 'a test asks for more bodies than the small store has',
  },
  { has: 'LIMIT 20000)', because: 'the newest 20,000, which the small store does not have' },
  { has: 'ORDER BY x.seq DESC LIMIT 2000', because: 'the newest 2,000, which the small store does not have' },
  {
    has: "SELECT 'event' AS what, e.id FROM events e",
    because: 'its span is that of the newest 2,000 rows, which no test has',
  },
  {
    has: 'SELECT id FROM events WHERE decided_at IS NULL ORDER BY seq LIMIT',
    because: 'a test leaves hundreds undecided, which lie where the store has room',
  },
  { has: 'DELETE FROM ticks', because: 'nightly, and ticks are kept for some days alone' },
  { has: 'DELETE FROM rollouts', because: 'nightly, and as many rows as people changed rules' },
];

/** A table grows where the larger store has more rows of it, and more than some pages. */
const LEAST_ROWS = 2_000;

export function growingTables(small: ReadonlyMap<string, number>, large: ReadonlyMap<string, number>): Set<string> {
  const growing = [...large].filter(([name, rows]) => rows >= LEAST_ROWS && rows > 2 * (small.get(name) ?? 0));
  return new Set(growing.map(([name]) => name));
}

/** What is wrong with a statement; nothing = its cost does not follow the size of the store. */
export function faultsOf({ small, large }: Pick<Cost, 'small' | 'large'>, growing: ReadonlySet<string>): string[] {
  if (!small || !large) return ['was never played'];
  const scanned = large.scans.filter((table) => growing.has(table));
  return [
    ...scanned.map((table) => `reads all of ${table}`),
    ...(large.buffers > 2 * small.buffers + 20 ? [`${small.buffers} buffers become ${large.buffers}`] : []),
  ];
}

export function exceptionOf(text: string, exceptions: readonly Exception[] = EXCEPTIONS): Exception | undefined {
  return exceptions.find(({ has }) => text.includes(has));
}

/** On one line, as far as it is worth. */
export function shortOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 140);
}
