import type { Json } from '../../src/core/json.js';
import { isJsonObject } from '../../src/core/json.js';
import { isClosed } from './closed-keys.js';

export type Leaf = null | boolean | number | bigint | string;
/** Keys and positions from the root to a value. */
export type Path = readonly (string | number)[];

export interface FoundLeaf {
  readonly path: Path;
  readonly value: Leaf;
  /** Below a key of the closed list, so its value does not count. */
  readonly closed: boolean;
}

/** Every leaf of a body. Leaves of an array go by the key of the array. */
export function leavesOf(body: Json, path: Path = [], closed = false): FoundLeaf[] {
  if (Array.isArray(body)) return body.flatMap((item, i) => leavesOf(item, [...path, i], closed));
  if (isJsonObject(body)) {
    return Object.entries(body).flatMap(([key, value]) =>
      leavesOf(value, [...path, key], closed || isClosed(key, body)),
    );
  }
  return [{ path, value: body, closed }];
}

const TIME = /^(\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d/;

export function isTime(value: unknown): boolean {
  return typeof value === 'string' && TIME.test(value);
}

/** A time before 1971 stands for none, whatever its offset. */
export function isSetTime(value: string): boolean {
  return Number(TIME.exec(value)?.[1]) >= 1971;
}

export function showPath(path: Path): string {
  return (
    path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
      .join('')
      .replace(/^\./, '') || 'body'
  );
}
