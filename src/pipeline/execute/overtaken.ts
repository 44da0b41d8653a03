import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../core/json.js';
import type { Intent } from '../../core/run.js';
import { comparable } from './flip-breaker.js';

/** Code of an intent that was cancelled because a newer wish came first. */
export const OVERTAKEN = 'stale.overtaken';

export type OvertakenWish = Pick<Intent, 'action' | 'params'>;
export type NewerWish = Pick<Intent, 'id' | 'action' | 'params' | 'rule'>;

/**
 * While an intent waits (for room in a budget, for a person), a newer wish for the same thing may be fulfilled; the older one must not overwrite
 * it. Wishes that go together are both fulfilled: the same value twice, other fields of one object, another entry of a list. Pure.
 * @returns why the older wish is stale; null when it is not
 */
export function overtakenBy(older: OvertakenWish, newer: NewerWish | null): string | null {
  if (newer === null || goTogether(older, newer)) return null;
  return `overtaken: rule ${newer.rule} asked for something else later, and that was done first (intent ${newer.id})`;
}

function goTogether(older: OvertakenWish, newer: OvertakenWish): boolean {
  // Two actions of one effect key: one makes what the other takes away.
  if (older.action !== newer.action) return false;
  const [before, after] = [comparable(older.params), comparable(newer.params)];
  if (!isListChange(before) && !isListChange(after))
    return Object.keys(before).every(
      (name) => after[name] === undefined || isDeepStrictEqual(before[name], after[name]),
    );
  if (before['set'] !== undefined || after['set'] !== undefined) return isDeepStrictEqual(before, after);
  return !meet(before['add'], after['remove']) && !meet(before['remove'], after['add']);
}

function isListChange(params: JsonObject): boolean {
  return ['add', 'remove', 'set'].some((name) => Array.isArray(params[name]));
}

function meet(one: Json | undefined, other: Json | undefined): boolean {
  return Array.isArray(one) && Array.isArray(other) && one.some((entry) => other.includes(entry));
}
