import { z } from 'zod';
import { count, text, type Shape } from '../core/schema.js';
import type { StoredRevision } from '../rules/revisions/revision-store.port.js';
import type { Position } from '../core/problem.js';

/** Lines of one rule that are shown. */
const MOST_LINES = 400;
const MOST_WIDTH = 500;

/** A rule or policy as it stands in its file. */
export const sourceText = z.object({
  file: text,
  firstLine: count.describe('Number of the first of the lines, 1-based.'),
  lines: z.array(text),
});
export type SourceText = Shape<typeof sourceText>;

/** The file of a place. Another process may have called it by another path; its end is the same. */
export function fileOf(files: StoredRevision['files'], file: string): string | null {
  const match =
    files.find(({ path }) => path === file) ??
    files.find(({ path }) => path.endsWith(`/${file}`) || file.endsWith(`/${path}`));
  return match?.text ?? null;
}

/**
 * The item of a list around a place: from its dash to the next line that is indented no deeper. Rules and policies are such items.
 * Null = the file is not kept, or is shorter.
 */
export function sourceOf(
  files: StoredRevision['files'] | null,
  { file, line }: Pick<Position, 'file' | 'line'>,
): SourceText | null {
  const lines = files && fileOf(files, file)?.split('\n');
  const at = lines?.[line - 1];
  if (!lines || at === undefined) return null;
  let first = line - 1;
  if (!isItem(at)) {
    const depth = indentOf(at);
    while (first > 0 && !(isItem(lines[first] ?? '') && indentOf(lines[first] ?? '') < depth)) first -= 1;
  }
  const depth = indentOf(lines[first] ?? '');
  let last = first + 1;
  while (last < lines.length && (isBlank(lines[last]) || indentOf(lines[last] ?? '') > depth)) last += 1;
  while (last > first + 1 && isBlank(lines[last - 1])) last -= 1;
  const itemLines = lines
    .slice(first, Math.min(last, first + MOST_LINES))
    .map((one) => one.replace(/\r$/, '').slice(0, MOST_WIDTH));
  return { file, firstLine: first + 1, lines: itemLines };
}

function isItem(line: string): boolean {
  return /^\s*-\s/.test(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function isBlank(line: string | undefined): boolean {
  return (line ?? '').trim() === '';
}
