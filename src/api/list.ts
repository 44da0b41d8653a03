import { tableOf } from '../core/table.js';

/** A list as people see it, described once for the command line and the Console. */
export interface List<Row> {
  readonly columns: ReadonlyArray<ListColumn<Row>>;
  /** In place of a list without rows. */
  readonly empty: string;
  /** What tells a row from the others. */
  readonly keyOf?: (row: Row) => string;
}

export interface ListColumn<Row> {
  readonly head: string;
  readonly value: (row: Row) => ListValue;
  /** How the value is shown; `wide` is a text that may wrap, `count` stands out unless it is 0. Default: a text. */
  readonly form?: 'wide' | 'time' | 'number' | 'count' | 'state' | 'code' | 'id';
  /** Parts of the address of the page about it; null = there is none. */
  readonly page?: (row: Row) => readonly string[] | null;
  /** Where alone it is shown. Default: on both. */
  readonly on?: 'terminal' | 'page';
}

/** Null = there is none. On the wire a time is an ISO text. */
export type ListValue = string | number | Date | null;

/** The moment that a value names; null = it is a text, or nothing. */
export function momentOf(value: ListValue): Date | null {
  if (value instanceof Date) return value;
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? new Date(value) : null;
}

/** A length of time in words: `3 min`, `2 h 5 min`. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min`;
  const h = Math.floor(min / 60);
  if (h < 48) return min % 60 === 0 ? `${h} h` : `${h} h ${min % 60} min`;
  return `${Math.floor(h / 24)} days`;
}

/** A filter of a list: an option of its command, a field of its page. */
export interface ListFilter {
  readonly name: string;
  readonly label: string;
  /** What an option's help says. */
  readonly help: string;
  /** Stands for the value where none is given. */
  readonly placeholder?: string;
  /** Words to choose from. Default: any text. */
  readonly choices?: readonly string[];
}

/** What a colour says. Colour never says it alone: the text does too. */
export type Tone = 'neutral' | 'good' | 'attention' | 'bad' | 'info';

const WORDS_OF_TONES: Readonly<Record<Tone, string>> = {
  good: 'done fired decided applied repaired approved ok live answers',
  neutral: 'unchanged suppressed cancelled coalesced not-fired',
  info: 'open gathering planned claimed sent stored late note',
  attention: 'unknown waits waiting quarantined conflict warning medium',
  bad: 'lost high critical refused dead failed error problem absent unreachable',
};
const TONES = tableOf<Tone>(
  Object.fromEntries(
    Object.entries(WORDS_OF_TONES).flatMap(([tone, words]) => words.split(' ').map((word) => [word, tone as Tone])),
  ),
);

/** How a state counts, by its first word; undefined = as any text. */
export function toneOf(state: string): Tone | undefined {
  return TONES[state.split(' ', 1)[0] ?? ''];
}
