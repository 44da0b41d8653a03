import { notFound } from './answer.js';
import type { Id } from './world.js';

/**
 * An id or number of the path.
 * @throws Refusal 404 when it is none
 */
export function readId(text: string | undefined): Id {
  if (text === undefined || !/^\d{1,19}$/.test(text)) throw notFound();
  return BigInt(text);
}
