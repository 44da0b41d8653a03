import { escapeMarkdown } from '../../core/escape-markdown.js';
import { normalizeLines } from './same.js';

const BEGIN = '<!-- forgehand:notes -->';
const END = '<!-- /forgehand:notes -->';

export interface NoteGroup {
  readonly title: string;
  /** A change that bears one of them belongs to it. */
  readonly labels: readonly string[];
}

/** One merged pull request, as people wrote it. */
export interface MergedChange {
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly labels: readonly string[];
}

export interface NoteStyle {
  readonly groups: readonly NoteGroup[];
  /** Title of what belongs to none of them; empty = left out. */
  readonly other: string;
  /** Labels whose bearers are left out. */
  readonly skip: readonly string[];
  /** Null = the first release. */
  readonly since: string | null;
}

/**
 * The notes between our markers: each change in the first group of which it bears a label, by number. Titles and logins are text of
 * others: they mention nobody, close nothing and hold no markup.
 */
export function renderNotes(changes: readonly MergedChange[], { groups, other, skip, since }: NoteStyle): string {
  const shown = [...changes].filter((change) => !bears(change, skip)).sort((a, b) => a.number - b.number);
  const left = new Set(shown);
  const sections = groups.map(({ title, labels }): [string, MergedChange[]] => {
    const own = [...left].filter((change) => bears(change, labels));
    for (const change of own) left.delete(change);
    return [title, own];
  });
  if (other !== '') sections.push([other, [...left]]);
  const parts = sections
    .filter(([, own]) => own.length > 0)
    .map(([title, own]) => `### ${title}\n\n${own.map(line).join('\n')}`);
  const heading = since === null ? '## Changes' : `## Changes since ${escapeMarkdown(since)}`;
  return [BEGIN, heading, ...(parts.length > 0 ? parts : ['None.']), END].join('\n\n');
}

function line({ number, title, author }: MergedChange): string {
  const by = author === '' ? '' : `, ${escapeMarkdown(author)}`;
  return `- ${escapeMarkdown(title)} (#${number}${by})`;
}

function bears({ labels }: MergedChange, wanted: readonly string[]): boolean {
  return labels.some((label) => wanted.some((one) => one.toLowerCase() === label.toLowerCase()));
}

/** The part between our markers, with them; null = there is none, `broken` = markers that do not belong together. */
export function notesIn(body: string | null | undefined): string | null | 'broken' {
  const text = normalizeLines(body ?? '');
  const [begins, ends] = [BEGIN, END].map((mark) => text.split(mark).length - 1);
  if (begins === 0 && ends === 0) return null;
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  return begins === 1 && ends === 1 && from < to ? text.slice(from, to + END.length) : 'broken';
}

/** The body with these notes in the place of ours, or behind what people wrote; all else stays as it is. */
export function withNotes(body: string | null | undefined, notes: string): string {
  const text = normalizeLines(body ?? '');
  const there = notesIn(text);
  if (there !== null && there !== 'broken') return text.replace(there, () => notes);
  return text.trim() === '' ? notes : `${text.trimEnd()}\n\n${notes}`;
}
