import { z } from 'zod';
import type { JsonObject } from '../../core/json.js';
import { Refusal } from '../answer.js';

/** An id, as a number or as digits in a text. */
export const idField = z.union([z.string().regex(/^\d+$/), z.number().int().nonnegative(), z.bigint()]).transform(String);

/**
 * The body of a control request by its schema.
 * @throws Refusal 422 naming every mistake
 */
export function checked<S extends z.ZodType>(schema: S, body: JsonObject): z.output<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new Refusal(422, result.error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; '));
}
