import { parse, stringify } from 'lossless-json';

/** A JSON value as we hold it: whole numbers beyond 2^53 are bigint, all others number. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Whole numbers that a double cannot hold stay exact as bigint (ids above 2^53 keep their last digit). */
function readNumber(text: string): number | bigint {
  if (/^-?\d+$/.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }
  return Number(text);
}

/**
 * Parse JSON text without losing digits.
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string): Json {
  return parse(text, undefined, readNumber) as Json;
}

/** Sixteen digits where a number may begin: only then can one be in the text that a double does not hold. Hashes and ids in texts are passed over. */
const LONG_NUMBER = /(?<![^[:,\s-])\d{16}/;

/**
 * `parseJson` for text that a program wrote, which names no key twice: nothing looks for that here. The lossless parser is some ten times slower
 * than the engine's own; it is used only where a long number occurs.
 * @throws SyntaxError when the text is not JSON
 */
export function parseWrittenJson(text: string): Json {
  return LONG_NUMBER.test(text) ? parseJson(text) : (JSON.parse(text) as Json);
}

/** Write JSON text; bigint becomes a JSON number of all its digits. */
export function stringifyJson(value: unknown, space?: number): string {
  return stringify(value, undefined, space) ?? 'null';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
