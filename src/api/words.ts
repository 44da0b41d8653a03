import { tableOf } from '../core/table.js';

/** Words that the command line and the Console share. */

/** `1 effect`, `2 effects`. @param many the plural. Default: with an s */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** What came of a schedule that somebody fired. */
export function sayFired({
  runs,
  undecided,
}: {
  readonly runs: number;
  readonly undecided: readonly string[];
}): string {
  const rest = undecided.length > 0 ? `, ${undecided.length} not decided: ${undecided.join('; ')}` : '';
  return `The schedule was fired: ${counted(runs, 'run')}${rest}.`;
}

/** Rules that were not asked about an event; empty = none. */
export function notAskedText(rules: readonly string[]): string {
  return rules.length === 0
    ? ''
    : `${counted(rules.length, 'rule')} not asked: the bot's own act (${rules.join(', ')})`;
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

/** `repository #12`; the organization where it is about no repository. */
export function aboutText(
  about: { readonly repo: string | null; readonly subject: string | null } | null,
  org: string,
): string {
  return [about?.repo ?? org, about?.subject ?? ''].filter((part) => part !== '').join(' ');
}

interface Source {
  readonly source: string;
  readonly hook: string | null;
}

/** Where an arrival came from: `hook acme`, `feed`. */
export function sourceText({ source, hook }: Source): string {
  return hook === null ? source : `hook ${hook}`;
}

/** Where something came from: `hook acme, feed`. */
export function sourcesText(sources: readonly Source[]): string {
  return [...new Set(sources.map(sourceText))].join(', ');
}

/** The lines of a plan, by their repository or the organization. */
export function byRepository<Line extends { readonly repo: { readonly name: string } | null }>({
  lines,
  org,
}: {
  readonly lines: readonly Line[];
  readonly org: string;
}): Map<string, Line[]> {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const where = line.repo?.name ?? org;
    groups.set(where, [...(groups.get(where) ?? []), line]);
  }
  return groups;
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
