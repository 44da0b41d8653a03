import { z } from 'zod';
import { isJsonObject, type Json } from '../../core/json.js';
import type { Operation } from '../define-operation.js';

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
  const known = knownKeys(schema);
  if (known === null) return !('message' in json && Object.keys(json).every((key) => ERROR_KEYS.has(key)));
  const keys = Object.keys(json).filter((key) => known.has(key));
  return keys.some((key) => !ERROR_KEYS.has(key));
}

/** Field names of the object that a schema reads; null when it reads no object. */
function knownKeys(schema: z.ZodType): ReadonlySet<string> | null {
  if (schema instanceof z.ZodObject) return new Set(Object.keys(schema.shape));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return knownKeys(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) {
    const found = schema.options.map((option) => knownKeys(option as z.ZodType)).find((keys) => keys !== null);
    return found ?? null;
  }
  return null;
}
