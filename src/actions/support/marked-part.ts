import { normalizeLines } from './compare.js';

/** HTML comments that nobody sees and that stand around what is ours in a text; all else of it belongs to people. */
export interface Marks {
  readonly begin: string;
  readonly end: string;
}

/** @param name letters, digits and colons */
export function marksOf(name: string): Marks {
  return { begin: `<!-- forgehand:${name} -->`, end: `<!-- /forgehand:${name} -->` };
}

/** Whether a text holds something like a mark, of whatever name. */
export function holdsMark(text: string): boolean {
  return /<!--\s*\/?forgehand:/i.test(text);
}

/** What is ours, with its marks. */
export function markedPart({ begin, end }: Marks, paragraphs: readonly string[]): string {
  return [begin, ...paragraphs.filter((text) => text !== ''), end].join('\n\n');
}

/** The part between the marks, with them; null = there is none, `broken` = marks that do not belong together. */
export function partIn(body: string | null | undefined, { begin, end }: Marks): string | null | 'broken' {
  const text = normalizeLines(body ?? '');
  const [begins, ends] = [begin, end].map((mark) => text.split(mark).length - 1);
  if (begins === 0 && ends === 0) return null;
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  return begins === 1 && ends === 1 && from < to ? text.slice(from, to + end.length) : 'broken';
}

/** The body with this part in the place of ours, or behind what people wrote; all else stays as it is. */
export function withPart(body: string | null | undefined, marks: Marks, part: string): string {
  const text = normalizeLines(body ?? '');
  const there = partIn(text, marks);
  if (there !== null && there !== 'broken') return text.replace(there, () => part);
  return text.trim() === '' ? part : `${text.trimEnd()}\n\n${part}`;
}
