import { randomInt } from 'node:crypto';
import pc from 'picocolors';
import { variable } from '../config/environment-file.js';
import { asCalled } from './called-as.js';
import { visible, visibleLines } from '../core/visible.js';
import { isLonger, showInPager } from './pager.js';

/**
 * The one place where commands write. What a terminal would obey is escaped here, whatever view it comes from; only colours that were made
 * by `colour` get through.
 */

/** Nobody outside can know it, so that no text of theirs is taken for a colour of ours. It never leaves the process. */
const MARK = Array.from({ length: 4 }, () => randomInt(1000, 10_000)).join(';');
const OWN_COLOURS = new RegExp(`\\u001b\\[(\\d+);${MARK}m`, 'g');

type Paint = (text: string) => string;

/** NO_COLOR wins over FORCE_COLOR; FORCE_COLOR=0 asks for none, as it does of Node itself. Without either: where the output is a terminal. */
const HAS_COLOURS = pc.isColorSupported && variable('FORCE_COLOR') !== '0';

function paint(open: number, close: number): Paint {
  if (!HAS_COLOURS) return String;
  return (text) => `\u001b[${open};${MARK}m${text}\u001b[${close};${MARK}m`;
}

export const colour = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
  magenta: paint(35, 39),
  blue: paint(34, 39),
};

/** A cell or a line: what is not ours is shown, colours of ours stay marked until they are written. */
export function oneLine(text: string): string {
  return betweenColours(text, visible);
}

/** What waits for the end of the command; null = it is written as it comes. */
let list: string | null = null;

/** From now on, what is written to a terminal is kept for the pager. In a pipe this changes nothing. */
export function keepForPager(): void {
  if (process.stdout.isTTY) list = '';
}

/** Called when the command holds no store any more: a reader may take an hour. */
export function showKept(): void {
  const text = list ?? '';
  list = null;
  if (text === '' || (isLonger(text, process.stdout.rows) && showInPager(text))) return;
  process.stdout.write(text);
}

export function writeOut(text: string): void {
  if (list === null) process.stdout.write(forTerminal(text));
  else list += forTerminal(text);
}

export function writeErr(text: string): void {
  process.stderr.write(forTerminal(asCalled(text)));
}

/** A file for the next program: byte for byte, unless somebody reads it at a terminal. */
export function writeFileText(text: string): void {
  process.stdout.write(process.stdout.isTTY ? visibleLines(text) : text);
}

/** A line that the next one replaces; '' takes it away. */
export function writeProgress(text: string): void {
  process.stderr.write(text === '' ? '\r\u001b[K' : `\r${visible(text)}`);
}

/** What is written for this text. */
export function forTerminal(text: string): string {
  return betweenColours(text, visibleLines).replace(OWN_COLOURS, '\u001b[$1m');
}

function betweenColours(text: string, change: (part: string) => string): string {
  let result = '';
  let at = 0;
  for (const own of text.matchAll(OWN_COLOURS)) {
    result += change(text.slice(at, own.index)) + own[0];
    at = own.index + own[0].length;
  }
  return result + change(text.slice(at));
}
