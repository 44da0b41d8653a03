import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/** Longer subjects are refused rather than cut: half a text may match what the whole does not. */
export const MAX_SUBJECT = 8192;
const MAX_PATTERN = 512;
/** Instructions of the compiled pattern. Time is at most their number times the length of the subject. */
const MAX_PROGRAM = 400;
const CACHE_SIZE = 500;
const compiled = new LRUCache<string, RE2JS>({ max: CACHE_SIZE, memoMethod: build });

/**
 * RE2 syntax: linear time, no look-around, no back-references.
 * @throws Error with a message for the pattern's author
 */
export function compileRegex(pattern: string): RE2JS {
  return compiled.memo(pattern);
}

function build(pattern: string): RE2JS {
  if (pattern.length > MAX_PATTERN)
    throw new Error(`a regular expression may have ${MAX_PATTERN} characters, this has ${pattern.length}`);
  const regex = compile(pattern);
  if (regex.programSize() > MAX_PROGRAM) throw new Error(TOO_LARGE);
  return regex;
}

function compile(pattern: string): RE2JS {
  if (estimateSize(pattern) > 4 * MAX_PROGRAM) throw new Error(TOO_LARGE);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(
      `the regular expression does not parse: ${(error as Error).message.replace(/^error parsing regexp: /, '')}${missingIn(pattern)}`,
    );
  }
}

/** What patterns of other languages have, and RE2 has not. */
function missingIn(pattern: string): string {
  if (/\\[1-9]/.test(pattern)) return ' (there are no back references)';
  if (/\(\?<?[=!]/.test(pattern)) return ' (there is no look-ahead and no look-behind)';
  if (/\(\?>|[*+?}]\+/.test(pattern)) return ' (there are no possessive or atomic groups)';
  return '';
}

const TOO_LARGE = 'the regular expression is too large (counted repetitions multiply)';

/** Characters after counted repetitions are written out, as the compiler does; it must not be asked when that is too much. */
function estimateSize(pattern: string): number {
  // Sizes before the group that is open now, outermost first.
  const outer: Array<{ sum: number; last: number }> = [];
  let group = { sum: 0, last: 0 };
  const push = (size: number): void => {
    group = { sum: group.sum + group.last, last: size };
  };
  for (const [piece, from, to] of pattern.matchAll(/\\[^]|\[\^?\]?(?:\\[^]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/g)) {
    const around = piece === ')' ? outer.pop() : undefined;
    if (from !== undefined) group.last *= Math.max(1, Number(from), Number(to ?? 0));
    else if (piece === '(') {
      outer.push(group);
      group = { sum: 0, last: 0 };
    } else if (around) {
      const size = group.sum + group.last;
      group = around;
      push(size);
    } else push(1);
  }
  return [...outer, group].reduce((total, { sum, last }) => total + sum + last, 0);
}

/** Work of one search, in the steps of a Budget. */
export function costOfSearch(regex: RE2JS, subject: { readonly length: number }): number {
  return 1 + Math.ceil((regex.programSize() * subject.length) / 512);
}
