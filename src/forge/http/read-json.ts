import { parseJson, type Json } from '../../core/json.js';
import { scanJson, type JsonCaps } from '../../core/scan-json.js';

/** No recorded answer has more than nine levels; a page of files stays far below this number of values. */
const CAPS: JsonCaps = { maxDepth: 64, maxNodes: 2_000_000 };

/**
 * JSON of an answer, without losing digits. Its depth is judged before a parser that recurses sees it.
 * @returns undefined for an empty text
 * @throws Error when it is not JSON, not UTF-8, too deep, or of too many values
 */
export function readJson(body: Buffer): Json | undefined {
  if (body.length === 0) return undefined;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  if (text.trim() === '') return undefined;
  const scanned = scanJson(body, CAPS);
  if (typeof scanned === 'string') throw new SyntaxError(`the answer has ${scanned}`);
  return parseJson(text);
}
