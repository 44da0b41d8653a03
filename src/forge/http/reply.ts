import { z } from 'zod';
import { parseJson, type Json, isJsonObject } from '../../core/json.js';
import { scanJson, type JsonCaps } from '../../core/scan-json.js';
import type { Operation } from '../define-operation.js';

/** No recorded answer has more than nine levels; a page of files stays far below this number of values. */
const CAPS: JsonCaps = { maxDepth: 64, maxNodes: 2_000_000 };

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * JSON of an answer, without losing digits. Its depth is judged before a parser that recurses sees it.
 * @returns undefined for an empty text
 * @throws Error when it is not JSON, not UTF-8, too deep, or of too many values
 */
export function readJson(body: Buffer): Json | undefined {
  if (body.length === 0) return undefined;
  const text = UTF8.decode(body);
  if (text.trim() === '') return undefined;
  const scanned = scanJson(body, CAPS);
  if (typeof scanned !== 'number') throw new SyntaxError(`the answer has ${scanned.text}`);
  return parseJson(text);
}

/** Text of an answer; null when it is not UTF-8. */
export function readText(body: Buffer): string | null {
  try {
    return UTF8.decode(body);
  } catch {
    return null;
  }
}

/** The answer is JSON, but not the answer of this operation. Names places and kinds, never values. */
export class WrongShape extends Error {}

/**
 * Put an answer through the operation's schema.
 * @param write an answer to a write must hold at least one known field: `{}` or an error object with a 200 is no proof of anything
 * @throws WrongShape
 */
export function checkReply(operation: Operation, json: Json | undefined, write: boolean): unknown {
  if (write && isJsonObject(json) && !looksLikeAnswer(operation.result, json))
    throw new WrongShape('no field of the answer is known');
  // A list that is missing is not known to be empty: what asked would take "there is nothing" for the answer.
  if (operation.list !== undefined && isJsonObject(json) && json[operation.list] === undefined)
    throw new WrongShape(`${operation.list}: missing`);
  const checked = operation.result.safeParse(json);
  if (checked.success) return checked.data;
  throw new WrongShape(describe(checked.error));
}

export function describe(error: z.ZodError): string {
  const [first] = error.issues;
  if (first === undefined) return 'wrong shape';
  const place = first.path.map(String).join('.') || 'the whole';
  return `${place}: ${first.code === 'invalid_type' ? `expected ${first.expected}` : first.code}`;
}

const ERROR_KEYS = new Set(['message', 'url', 'errors', 'error']);

function looksLikeAnswer(schema: z.ZodType, json: Readonly<Record<string, unknown>>): boolean {
  const fields = knownKeys(schema);
  if (fields === null) return !('message' in json && Object.keys(json).every((key) => ERROR_KEYS.has(key)));
  const keys = Object.keys(json).filter((key) => fields.has(key));
  return keys.some((key) => !ERROR_KEYS.has(key));
}

/** Field names of the object that a schema reads; null when it reads no object. */
function knownKeys(schema: z.ZodType): ReadonlySet<string> | null {
  if (schema instanceof z.ZodObject) return new Set(Object.keys(schema.shape));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return knownKeys(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) {
    const fields = schema.options.map((option) => knownKeys(option as z.ZodType)).find((keys) => keys !== null);
    return fields ?? null;
  }
  return null;
}

/** Longest wait we let a server ask for. */
export const RETRY_AFTER_CAP_S = 15 * 60;

/**
 * Seconds that a Retry-After header asks for: whole seconds or an HTTP date.
 * @returns 0 to 900, rounded up; undefined when the header is absent or makes no sense
 * @see RFC 9110, section 10.2.3
 */
export function readRetryAfterS(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_CAP_S);
  // Date.parse alone would take "-5" or "1.5" for a date.
  if (!/^[A-Za-z]{3,9}, /.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  return Math.min(Math.max(Math.ceil((at - now.getTime()) / 1000), 0), RETRY_AFTER_CAP_S);
}
