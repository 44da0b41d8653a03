import { randomUUID } from 'node:crypto';

/** A JSON value as we hold it: whole numbers beyond 2^53 are bigint, all others number. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

const QUOTE = 34;
const BACKSLASH = 92;
/** Sixteen digits where a number may begin: only then can one be in the text that a double does not hold. Hashes and ids in texts are passed over. */
const LONG_NUMBER = /(?<![^[:,\s-])\d{16}/;
/** A whole number of so many digits where a value may stand, in text that holds no strings. */
const LONG_WHOLE_NUMBER = /(?<![\d.eE+-])-?[1-9]\d{15,}(?=\s*(?:[,\]}]|$))/g;
/** Nobody outside can know it, so that no text of theirs is taken for a number. It never leaves the process. */
const MARK = `${randomUUID()}:`;

/**
 * Parse JSON text without losing digits. Of a key that one object names twice the last counts, as in `JSON.parse`.
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string): Json {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as Json;
  return JSON.parse(markLongNumbers(text), (_, value: Json) =>
    typeof value === 'string' && value.startsWith(MARK) ? wholeNumber(value) : value,
  ) as Json;
}

function wholeNumber(marked: string): number | bigint {
  const value = BigInt(marked.slice(MARK.length));
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Each long number as a marked string: the engine's own parser does the rest. A parser in JavaScript needs 130 MB for a string of 4 MB. */
function markLongNumbers(text: string): string {
  let marked = '';
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const begin = quote < 0 ? text.length : quote;
    const end = endOfString(text, begin);
    marked +=
      text.slice(at, begin).replace(LONG_WHOLE_NUMBER, (digits) => `"${MARK}${digits}"`) + text.slice(begin, end);
    at = end;
  }
  return marked;
}

/** Behind the closing quote, or the end of the text. */
function endOfString(text: string, openingQuote: number): number {
  for (let i = openingQuote + 1; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i += 1;
    else if (code === QUOTE) return i + 1;
  }
  return text.length;
}

const MARKED_NUMBER = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/**
 * Write JSON text; bigint becomes a JSON number of all its digits.
 * @throws TypeError when the value holds itself
 */
export function stringifyJson(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, undefined, space) ?? 'null';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Most likely a bigint, which the engine's own writer refuses; a function for each value would make it slow for all that hold none.
    const marked = JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${MARK}${one}` : one), space);
    return marked.replaceAll(MARKED_NUMBER, '$1');
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
