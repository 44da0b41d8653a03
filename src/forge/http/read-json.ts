import { parseJson, type Json } from '../../core/json.js';

/**
 * JSON of an answer, without losing digits.
 * @returns undefined for an empty text
 * @throws Error when it is not JSON, not UTF-8, or nested too deep to be parsed
 */
export function readJson(body: Buffer): Json | undefined {
  if (body.length === 0) return undefined;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  if (text.trim() === '') return undefined;
  return parseJson(text);
}
