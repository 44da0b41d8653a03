import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../core/json.js';
import { isSealed } from '../../core/encryptor.js';

export interface Wish {
  readonly rule: string;
  readonly params: JsonObject;
}

/** A wish that was fulfilled, and when its call was made. */
export interface FulfilledWish extends Wish {
  readonly sentAt: Date;
}

/** Wishes about one object that follow each other within this time are a fight; further apart they are life. */
export const FLIP_WINDOW_MS = 600_000;
/** Back and forth so many times in all: two rounds. */
const FLIPS = 4;

/**
 * Two rules that set one thing back and forth: A B A B, and now A again. Pure.
 * @param before fulfilled wishes of the same effect key, the newest first
 * @returns the two rules, or null
 */
export function findFlip(wish: Wish, before: readonly FulfilledWish[], now: Date): readonly [string, string] | null {
  const recent = before.slice(0, FLIPS);
  const oldest = recent.at(-1);
  const other = recent[0];
  if (recent.length < FLIPS || !oldest || !other || now.getTime() - oldest.sentAt.getTime() > FLIP_WINDOW_MS)
    return null;
  if (other.rule === wish.rule || isSame(other, wish)) return null;
  const alternates = recent.every((earlier, n) => {
    const expected = n % 2 === 0 ? other : wish;
    return earlier.rule === expected.rule && isSame(earlier, expected);
  });
  return alternates ? [wish.rule, other.rule] : null;
}

function isSame(a: Wish, b: Wish): boolean {
  return isDeepStrictEqual(comparable(a.params), comparable(b.params));
}

/** Sealed values differ in each sealing; their hashes do not. */
export function comparable(params: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, isSealed(value) ? { $hash: value.$hash } : value]),
  );
}
