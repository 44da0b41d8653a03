import { parseJson, type Json } from '../../core/json.js';

/** Only then can a number be in the text that a double does not hold. */
const LONG_NUMBER = /\d{16}/;

/**
 * JSON of an answer, without losing digits.
 * The lossless parser is some ten times slower, and an answer may have 20 MB: it is used only where a long number occurs.
 * @returns undefined for an empty text
 * @throws Error when it is not JSON, not UTF-8, or nested too deep to be parsed
 */
export function readJson(body: Buffer): Json | undefined {
  if (body.length === 0) return undefined;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  if (text.trim() === '') return undefined;
  return LONG_NUMBER.test(text) ? parseJson(text) : (JSON.parse(text) as Json);
}
