/** Caps on a body's structure, held before any parser that recurses sees it. */
export interface JsonCaps {
  /** Objects and arrays inside each other. */
  readonly maxDepth: number;
  /** Values of every kind: objects, arrays, strings, numbers and words. */
  readonly maxNodes: number;
}

/** Why a text is refused. */
export interface JsonFlaw {
  readonly code: 'too_deep' | 'too_many_values' | 'unended_text' | 'endless_number' | 'key_twice' | 'key_proto';
  /** What the text has, for people. */
  readonly text: string;
}

/** Longer than any number of a forge; turning digits into a big number costs more than linear time. */
const MAX_WORD_BYTES = 256;

const QUOTE = 34;
const BACKSLASH = 92;

// What a byte outside of strings starts. Bytes that JSON does not know count as words; the parser refuses them.
const WORD = 0;
const SPACE = 1;
const STRING = 2;
const COMMA = 3;
const COLON = 4;
const OPEN = 5;
const CLOSE = 6;
const KIND = kinds({ [SPACE]: ' \t\n\r', [STRING]: '"', [COMMA]: ',', [COLON]: ':', [OPEN]: '[{', [CLOSE]: ']}' });

/**
 * Walk over JSON text once, without recursion, and refuse what no forge sends: too deep, too many values, endless numbers. Whether the text
 * is JSON at all is the parser's question. Every delivery goes through here, hence bytes, which are read twice as fast as characters.
 * @param text in UTF-8
 * @returns how many keys the text has (for `checkKeys`), or why it is refused
 */
export function scanJson(text: Uint8Array, caps: JsonCaps): number | JsonFlaw {
  let depth = 0;
  let keys = 0;
  // A value stands before each comma, and one more in each object or array that is not empty, and at the top.
  let nodes = 1;
  let isEmpty = false;
  const end = text.length;
  let i = 0;
  while (i < end) {
    const kind = KIND[text[i] ?? 0];
    if (kind === SPACE) {
      i += 1;
    } else if (kind === STRING) {
      i = afterString(text, i + 1);
      if (i > end) return { code: 'unended_text', text: 'a string without end' };
      isEmpty = false;
    } else if (kind === COMMA) {
      i += 1;
      nodes += 1;
      if (nodes > caps.maxNodes) return tooMany(caps);
    } else if (kind === COLON) {
      i += 1;
      keys += 1;
    } else if (kind === OPEN) {
      i += 1;
      depth += 1;
      nodes += 1;
      if (depth > caps.maxDepth) return { code: 'too_deep', text: `a nesting deeper than ${caps.maxDepth}` };
      if (nodes > caps.maxNodes + 1) return tooMany(caps);
      isEmpty = true;
    } else if (kind === CLOSE) {
      i += 1;
      depth -= 1;
      if (isEmpty) nodes -= 1;
      isEmpty = false;
    } else {
      const start = i;
      i = afterWord(text, i + 1);
      if (i - start > MAX_WORD_BYTES) return { code: 'endless_number', text: 'a number without end' };
      isEmpty = false;
    }
  }
  return nodes > caps.maxNodes ? tooMany(caps) : keys;
}

/**
 * Refuse parsed JSON that lost keys (the text had one twice in an object, and parsers disagree on which counts) or has a `__proto__` key.
 * @param keys how many the text had
 * @returns why it is refused, or null
 */
export function checkKeys(value: unknown, keys: number): JsonFlaw | null {
  const count = countKeys(value);
  if (count < 0) return { code: 'key_proto', text: 'a key named __proto__' };
  return count === keys ? null : { code: 'key_twice', text: 'a key twice in one object' };
}

/** @returns -1 when one of the keys is `__proto__`. Recurses as deep as the scan let the text be. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      const inner = countKeys(item);
      if (inner < 0) return -1;
      count += inner;
    }
    return count;
  }
  // Parsed JSON inherits no keys, so `for in` needs no list of own keys.
  for (const key in value) {
    if (key === '__proto__') return -1;
    const inner = countKeys((value as Record<string, unknown>)[key]);
    if (inner < 0) return -1;
    count += 1 + inner;
  }
  return count;
}

function tooMany(caps: JsonCaps): JsonFlaw {
  return { code: 'too_many_values', text: `more than ${caps.maxNodes} values` };
}

/** Index after the closing quote; beyond the end when there is none. */
function afterString(text: Uint8Array, start: number): number {
  let i = start;
  while (i < text.length) {
    const byte = text[i];
    i += 1;
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i += 1;
  }
  return text.length + 1;
}

/** Index after a number or a word (`true`, `null`). */
function afterWord(text: Uint8Array, start: number): number {
  let i = start;
  while (i < text.length && KIND[text[i] ?? 0] === WORD) i += 1;
  return i;
}

function kinds(table: Readonly<Record<number, string>>): Uint8Array {
  const of = new Uint8Array(256);
  for (const [kind, characters] of Object.entries(table))
    for (const character of characters) of[character.charCodeAt(0)] = Number(kind);
  return of;
}
