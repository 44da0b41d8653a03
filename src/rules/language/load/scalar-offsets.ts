import type { YamlScalar } from './node.js';

/** Where the characters of a scalar's value stand in the file. */
export interface ScalarPlaces {
  /** Characters of the value. */
  readonly length: number;
  /** File offset of the first one. */
  readonly first: number;
  /** Of each one and of the end, where they do not simply follow each other; null = they do. Rules keep these as long as they live. */
  readonly offsets: Int32Array | null;
}

export function scalarPlaces(text: string, scalar: YamlScalar): ScalarPlaces {
  const offsets = mapScalarOffsets(text, scalar);
  const first = offsets[0] ?? scalar.start;
  const isStraight = offsets.every((at, n) => at === first + n);
  return { length: offsets.length - 1, first, offsets: isStraight ? null : offsets };
}

/**
 * File offset of each character of a scalar's value, plus one for its end: an expression that spans lines or holds escapes is still
 * reported at the character that is wrong. Walks value and source together; runs of white space that folding changed map to their start.
 */
export function mapScalarOffsets(text: string, scalar: YamlScalar): Int32Array {
  const value = String(scalar.value);
  const offsets = new Int32Array(value.length + 1);
  let at = firstCharacter(text, scalar);
  let index = 0;
  while (index < value.length) {
    if (isSpace(value.charAt(index))) {
      const valueEnd = skipSpace(value, index);
      const sourceEnd = skipSpace(text, at);
      const isFolded = text.slice(at, sourceEnd).includes('\n');
      if (isFolded) {
        while (index < valueEnd) offsets[index++] = at;
        at = sourceEnd;
        continue;
      }
    }
    if (scalar.style === 'double' && text[at] === '\\') {
      const escape = readEscape(text, at);
      // An escaped line break stands for nothing.
      if (escape.width > 0) for (let i = 0; i < escape.width && index < value.length; i++) offsets[index++] = at;
      at += escape.length;
      continue;
    }
    offsets[index++] = at;
    at += scalar.style === 'single' && text[at] === "'" ? 2 : 1;
  }
  offsets[value.length] = at;
  return offsets;
}

function firstCharacter(text: string, scalar: YamlScalar): number {
  switch (scalar.style) {
    case 'plain':
      return scalar.start;
    case 'single':
    case 'double':
      return scalar.start + 1;
    case 'block': {
      // After the header line (`|-`, perhaps with a comment), at the first character that is no indentation.
      const line = text.indexOf('\n', scalar.start);
      return line === -1 ? text.length : skipBlank(text, line + 1);
    }
  }
}

/** @returns how much source an escape takes and how many characters of the value it makes */
function readEscape(text: string, at: number): { length: number; width: number } {
  switch (text[at + 1]) {
    case 'x':
      return { length: 4, width: 1 };
    case 'u':
      return { length: 6, width: 1 };
    case 'U':
      return { length: 10, width: Number.parseInt(text.slice(at + 2, at + 10), 16) > 0xffff ? 2 : 1 };
    case '\n':
    case '\r':
      return { length: skipSpace(text, at + 1) - at, width: 0 };
    default:
      return { length: 2, width: 1 };
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r';
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charAt(at))) at += 1;
  return at;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at;
}
