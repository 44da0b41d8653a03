import { createHash } from 'node:crypto';
import { hashOf } from '../core/ids.js';

/**
 * Names of any length as a key of 32 bytes: an index entry of PostgreSQL holds at most 2.7 kB, and a ref or a title is as long as its
 * author likes.
 */
export function keyOf(...parts: readonly string[]): Buffer {
  return Buffer.from(hashOf(...parts), 'hex');
}

/** Key of an advisory lock: 64 bits, as the decimal string that `bigint` takes. */
export function lockKeyOf(...parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  return hash.readBigInt64BE(0).toString();
}
