import Table from 'cli-table3';
import { asCalled } from './called-as.js';
import { stringifyJson } from '../core/json.js';
import { visible } from '../core/visible.js';
import { toneOf, type Tone } from '../api/words.js';
import { colour, oneLine, writeOut } from './terminal.js';

/** Machines get one JSON value; people get what `forPeople` writes, with commands as they have to type them. */
export function print(json: boolean, value: unknown, forPeople: () => string): void {
  writeOut(`${json ? stringifyJson(value, 2) : asCalled(forPeople())}\n`);
}

/**
 * Columns, the last one wrapped where that makes them fit; or, on a terminal too narrow for that, a block for each row: the first two cells, and
 * below them the others with their names.
 * @param columns width of the terminal; default that of stdout, without end where it is none
 */
export function table(
  head: string[],
  cells: string[][],
  empty: string,
  columns = process.stdout.columns ?? Infinity,
): string {
  if (cells.length === 0) return colour.dim(empty);
  const rows = cells.map((row) => row.map(oneLine));
  const lines = draw(head, rows);
  if (fits(lines, columns)) return lines.join('\n');
  const last = head.length - 1;
  const width =
    columns -
    draw(
      head.slice(0, last),
      rows.map((row) => row.slice(0, last)),
      [],
    ).reduce(widest, 0) -
    GAP;
  const wrapped = width >= NARROWEST ? draw(head, rows, [...head.slice(1).map(() => null), width]) : null;
  if (wrapped && fits(wrapped, columns) && !wrapped.some((line) => FOREIGN_COLOUR.test(line)))
    return wrapped.join('\n');
  return rows.map((row) => block(head, row, columns)).join('\n');
}

/** Between two columns. */
const GAP = 2;
/** A text is not wrapped to less than this. */
const NARROWEST = 24;
/** The library ends a colour at the end of a line by a mark of its own, which is not one of ours. */
const FOREIGN_COLOUR = /\u001b\[\d*m/;

function draw(head: string[], rows: string[][], widths: Array<number | null> = []): string[] {
  const grid = new Table({
    head: head.map((name) => colour.bold(name)),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
    chars: PLAIN,
    colWidths: widths,
    wordWrap: widths.length > 0,
  });
  grid.push(...rows);
  return grid.toString().split('\n').map(withoutTail);
}

function fits(lines: readonly string[], columns: number): boolean {
  return lines.reduce(widest, 0) <= columns;
}

function widest(most: number, line: string): number {
  return Math.max(most, visibleLength(line));
}

const SHORTEST_ID = 8;

/** Ids by their end, which tells those of one moment apart: as much of it as tells these apart, eight characters at least. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const all = new Set(ids);
  let length = SHORTEST_ID;
  while (length < 36 && new Set([...all].map((id) => id.slice(-length))).size < all.size) length += 1;
  return (id) => id.slice(-length);
}

/** How many rows each table has. */
export function tableOfCounts(tables: ReadonlyArray<{ name: string; rows: number }>): string {
  return table(
    ['table', 'rows'],
    tables.map(({ name, rows }) => [name, String(rows)]),
    'no tables',
  );
}

function block(head: string[], row: string[], columns: number): string {
  const lines = [row.slice(0, 2).join('  '), ''];
  for (const part of row
    .slice(2)
    .flatMap((cell, i) => (cell === '' ? [] : [`${colour.dim(head[i + 2] ?? '')} ${cell}`]))) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[lines.length - 1] = `  ${part}`;
    else if (visibleLength(last) + 2 + visibleLength(part) <= columns) lines[lines.length - 1] = `${last}  ${part}`;
    else lines.push(`  ${part}`);
  }
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * Lines that fit, broken between words; the second and later ones begin under the first word. A longer word, such as an address, stays whole.
 * @param columns width of the terminal; default that of stdout, without end where it is none
 */
export function wrapped(text: string, columns = process.stdout.columns ?? Infinity): string[] {
  return text.split('\n').flatMap((line) => {
    const [, indent = '', rest = ''] = /^( *)(.*)$/.exec(line) ?? [];
    const lines: string[] = [];
    for (const word of rest.split(' ')) {
      const last = lines.at(-1);
      if (last !== undefined && visibleLength(`${last} ${word}`) <= columns)
        lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(`${indent}${word}`);
    }
    return lines;
  });
}

const ESCAPES = /\u001b\[[0-9;]*m/g;

function visibleLength(text: string): number {
  return [...text.replace(ESCAPES, '')].length;
}

function withoutTail(line: string): string {
  return line.replace(/ +$/, '');
}

/** Columns by space only: a table that can be copied and cut. */
const PLAIN = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' ',
};

const COLOURS: Readonly<Record<Tone, (text: string) => string>> = {
  good: colour.green,
  neutral: colour.dim,
  info: colour.cyan,
  attention: colour.yellow,
  bad: colour.red,
};

/** A state word in its colour. */
export function state(word: string): string {
  const tone = toneOf(word);
  return tone ? COLOURS[tone](word) : word;
}

/** `2026-11-20 19:33:21` in UTC, from a date or its ISO text. */
export function when(at: string | Date | null | undefined): string {
  if (!at) return '-';
  return new Date(at).toISOString().replace('T', ' ').slice(0, 19);
}

/** Text of a forge or a file, safe on a terminal and on one line: control characters are shown, not obeyed. */
export const plain = visible;
