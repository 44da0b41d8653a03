import { z } from 'zod';
import { stringifyJson } from '../../core/json.js';
import { count, maybeText } from '../../core/schema.js';
import { limit } from './operation.js';

/** Characters of JSON on one page, so that the Console draws less than 200 KB of the usual one. A page has one row at least. */
const MOST_CHARACTERS = { usual: 60_000, long: 180_000 } as const;
const USUAL_ROWS = 50;

/** What is sent for a page of a list. */
export const paging = {
  search: z.string().trim().max(200).optional().describe('Only rows whose names contain this text, in any case.'),
  after: z.string().max(1000).optional().describe('`next` of the page before.'),
  limit: limit(USUAL_ROWS),
};

/** A page of a list: what needs attention comes first. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    rows: z.array(row),
    next: maybeText.describe('Where the next page begins; null = this was the last one.'),
    total: count.describe('Rows of all pages.'),
    attention: count.describe('How many of them need attention; they come first.'),
  });
}

/** A page of a list by time, which grows at one end: behind a row the same rows follow for ever. */
export function pageByTime<Row extends z.ZodType>(row: Row) {
  return z.object({
    rows: z.array(row),
    next: maybeText.describe('Names the last row, where the next page begins; null = this was the last one.'),
  });
}

interface ByTime<Item extends { readonly id: string }, Row> {
  /** So many items, from the beginning of the page on. */
  readonly read: (count: number) => Promise<readonly Item[]>;
  readonly rowsOf: (items: readonly Item[]) => Promise<Row[]> | Row[];
}

/** One item more than a page has is read: it tells whether another page follows. */
export async function makePageByTime<Item extends { readonly id: string }, Row>(
  { read, rowsOf }: ByTime<Item, Row>,
  most: number,
): Promise<{ rows: Row[]; next: string | null }> {
  const items = await read(most + 1);
  const pageItems = items.slice(0, most);
  const last = items.length > most ? pageItems.at(-1) : undefined;
  return { rows: await rowsOf(pageItems), next: last?.id ?? null };
}

interface Listed<Item, Row> {
  readonly items: readonly Item[];
  /** Texts that a search looks through. */
  readonly namesOf: (item: Item) => readonly string[];
  /** What orders the rows, and names one of them. Default: its names */
  readonly orderOf?: (item: Item) => string;
  readonly needsAttention: (item: Item) => boolean;
  /** The rows of some items, in their order: what costs something is read for one page. */
  readonly rowsOf: (items: readonly Item[]) => Promise<readonly Row[]> | readonly Row[];
}

interface Asked {
  readonly search?: string;
  readonly after?: string;
  readonly limit: number;
}

/** A page may have fewer rows than were asked for, where they are long. */
export async function makePage<Item, Row>(
  { items, namesOf, orderOf = (item) => namesOf(item).join('/'), needsAttention, rowsOf }: Listed<Item, Row>,
  { search = '', after = '', limit: most }: Asked,
): Promise<{ rows: Row[]; next: string | null; total: number; attention: number }> {
  const wanted = search.toLowerCase();
  const fitting = items.filter((item) => wanted === '' || namesOf(item).join('/').toLowerCase().includes(wanted));
  const places = fitting.map((item) => ({ item, at: `${needsAttention(item) ? 0 : 1} ${orderOf(item)}` }));
  const rest = places.filter(({ at }) => at > after).sort((a, b) => (a.at < b.at ? -1 : 1));
  const chosen = rest.slice(0, most);
  const rows = await rowsOf(chosen.map(({ item }) => item));
  const count = countWithin(rows, most > USUAL_ROWS ? MOST_CHARACTERS.long : MOST_CHARACTERS.usual);
  return {
    rows: rows.slice(0, count),
    next: count < rest.length ? (chosen[count - 1]?.at ?? null) : null,
    total: places.length,
    attention: places.filter(({ at }) => at.startsWith('0')).length,
  };
}

function countWithin(rows: readonly unknown[], characters: number): number {
  let room = characters;
  const tooMuch = rows.findIndex((row, n) => (room -= stringifyJson(row as never).length) < 0 && n > 0);
  return tooMuch === -1 ? rows.length : tooMuch;
}
