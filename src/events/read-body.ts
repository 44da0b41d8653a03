import type { Json, JsonObject } from '../core/json.js';
import { isJsonObject, parseJson } from '../core/json.js';
import { Misfit } from './event-fact.js';

/** Deeper bodies are refused at the door already; rows of the feed are flat. */
const MAX_DEPTH = 64;

/**
 * Parse an arrival's text into the form in which events hold it: every `id` and `*_id` a decimal string, no text that PostgreSQL's
 * jsonb cannot hold (U+0000 and lone surrogates become U+FFFD), no number that JSON cannot write.
 */
export function readBody(text: string): JsonObject | Misfit {
  let body: Json;
  try {
    body = parseJson(text);
  } catch {
    return new Misfit('not JSON');
  }
  if (!isJsonObject(body)) return new Misfit('not a JSON object');
  try {
    return cleanObject(body, 0);
  } catch (error) {
    if (error instanceof RangeError) return new Misfit('nested too deep');
    throw error;
  }
}

function cleanObject(object: JsonObject, depth: number): JsonObject {
  if (depth >= MAX_DEPTH) throw new RangeError('nested too deep');
  const clean: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    if (key === '__proto__') continue;
    clean[cleanText(key)] =
      isIdKey(key) && (typeof value === 'number' || typeof value === 'bigint')
        ? String(value)
        : cleanValue(value, depth + 1);
  }
  return clean;
}

function cleanValue(value: Json, depth: number): Json {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) {
    if (depth >= MAX_DEPTH) throw new RangeError('nested too deep');
    return value.map((item) => cleanValue(item, depth + 1));
  }
  if (typeof value === 'object' && value !== null) return cleanObject(value, depth);
  return value;
}

function isIdKey(key: string): boolean {
  return key === 'id' || key.endsWith('_id');
}

/** U+0000 and lone surrogates. */
const UNHOLDABLE = /[\u0000\p{Surrogate}]/gu;

function cleanText(text: string): string {
  return text.replace(UNHOLDABLE, '\uFFFD');
}
