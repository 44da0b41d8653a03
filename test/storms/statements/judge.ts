import type { Played } from './play.js';

/** A statement with what it cost in both stores, at worst of its samples. */
export interface Cost {
  readonly text: string;
  readonly isPlanned: boolean;
  /** Null = it could not be played. */
  readonly small: Played | null;
  readonly large: Played | null;
  /** In the embedded store, whose pages are not counted. */
  readonly embedded: Pick<Played, 'scans'> | null;
}

/** Tables that grow, by the store. */
export interface Growing {
  readonly large: ReadonlySet<string>;
  readonly embedded: ReadonlySet<string>;
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
    has: 'SELECT id, content_type, body FROM arrivals',
    because: 'an erasure passes all that came in, once',
  },
  {
    has: 'SELECT count(*)::int AS count FROM (SELECT * FROM intents n WHERE n.state = s.state',
    because: 'the newest 1,000 of each state, which the small store does not have',
  },
  {
    has: "r.org = w.org AND r.state NOT IN ('not-fired', 'coalesced')",
    because: 'a page of 1,000, which the small store does not have',
  },
  {
    has: "CASE WHEN r.state = 'not-fired' THEN r.reason_params END AS params",
    because: 'counts a span of days out of two indexes, of which one is over all runs of an organization',
  },
  {
    has: 'UPDATE runs SET trace = $2',
    because: 'one row by its key; the small store has room for it where it lies',
  },
  { has: 'DELETE FROM ticks', because: 'nightly, and ticks are kept for some days alone' },
  { has: 'DELETE FROM rollouts', because: 'nightly, and as many rows as people changed rules' },
];

/** Statements that no test of the suites sends, with the reason. */
export const NEVER_SENT: readonly Exception[] = [
  { has: 'FROM pg_class', because: 'asks the catalogue' },
  { has: 'generate_series(1, 20000)', because: 'fills no table: it asks a full disk for room' },
  { has: 'pg_notify', because: 'reads no table' },
  { has: 'AS m (id, epoch, state) JOIN intents', because: 'asked by key, after a connection was lost at a commit' },
  { has: 'FROM attempts a WHERE a.id = ANY', because: 'asked by key, after a connection was lost at a commit' },
];

/** A table grows where the larger store has more rows of it, and more than some pages. */
const LEAST_ROWS = 2_000;

/** @param small empty = what large has is all that is known */
export function growingTables(small: ReadonlyMap<string, number>, large: ReadonlyMap<string, number>): Set<string> {
  const growing = [...large].filter(([name, rows]) => rows >= LEAST_ROWS && rows > 2 * (small.get(name) ?? 0));
  return new Set(growing.map(([name]) => name));
}

/** What is wrong with a statement; nothing = its cost does not follow the size of the store. */
export function faultsOf(
  { small, large, embedded }: Pick<Cost, 'small' | 'large' | 'embedded'>,
  growing: Growing,
): string[] {
  if (!small || !large || !embedded) return ['was never played'];
  const [scanned, inEmbedded] = [
    large.scans.filter((table) => growing.large.has(table)),
    embedded.scans.filter((table) => growing.embedded.has(table)),
  ];
  return [
    ...scanned.map((table) => `reads all of ${table}`),
    ...inEmbedded
      .filter((table) => !scanned.includes(table))
      .map((table) => `reads all of ${table} in the embedded store`),
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
