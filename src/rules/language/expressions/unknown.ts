import { celError, isCelError } from '@bufbuild/cel';
import type { CelInput, CelMap } from '@bufbuild/cel';

/** Which fields of an object are not known, with the path that names each to people. */
export interface Unknown {
  readonly paths: ReadonlyMap<string, string>;
  /** They may become known: `has()` of one is not known either. Else it is false. */
  readonly isOpen: boolean;
}

/** Marks an object some of whose fields are unknown. No JSON has such a key. */
export const UNKNOWN = Symbol('fields that are not known');
type Marked = { [UNKNOWN]?: Unknown };

export function unknownIn(value: object): Unknown | undefined {
  return (value as Marked)[UNKNOWN];
}

/** The same object, marked. */
export function withUnknown<Value extends object>(value: Value, unknown: Unknown | undefined): Value {
  if (unknown && unknown.paths.size > 0) (value as Marked)[UNKNOWN] = unknown;
  return value;
}

/** Begins the message of an error of the library that stands for an unknown value. */
const SIGN = '@unknown ';

/**
 * A map that answers with an error where a field is unknown. `&&`, `||`, `all` and `exists` absorb an error where the other side decides, and every
 * function passes it on: this is logic with three values.
 */
export function guardUnknown(map: CelMap, behind: { has(name: string): boolean }, { paths, isOpen }: Unknown): CelMap {
  const own = map as { get: (key: unknown) => unknown; has: (key: unknown) => unknown; size: number };
  const missing = (key: unknown): CelInput | null => {
    const path = typeof key === 'string' && !behind.has(key) ? paths.get(key) : undefined;
    return path === undefined ? null : (celError(SIGN + path) as unknown as CelInput);
  };
  const [get, has] = [map.get.bind(map), map.has.bind(map)];
  own.get = (key) => missing(key) ?? get(key as never);
  own.has = (key) => {
    const error = missing(key);
    return error === null ? has(key as never) : isOpen ? error : false;
  };
  // Whoever walks it looks at all of its fields.
  const [first = ''] = paths.values();
  for (const walk of ['entries', 'keys', 'values', 'forEach', Symbol.iterator] as const)
    Object.defineProperty(map, walk, {
      value: () => {
        throw new Error(SIGN + first);
      },
    });
  return map;
}

/** The unknown fields that an error stands for; empty = it is another error. */
export function unknownPaths(error: unknown): string[] {
  const paths = new Set<string>();
  const look = (one: unknown): void => {
    if (!isCelError(one) && !(one instanceof Error)) return;
    const { message, cause } = one as { message: string; cause?: unknown };
    // eslint-disable-next-line local/no-decision-by-text -- the library passes on nothing of an error but its message
    if (message.startsWith(SIGN)) paths.add(message.slice(SIGN.length));
    for (const other of Array.isArray(cause) ? cause : [cause]) look(other);
  };
  look(error);
  return [...paths];
}

/** The first unknown field of a value that is handed on whole. */
export function unknownBelow(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || value instanceof Date) return null;
  const [first] = unknownIn(value)?.paths.values() ?? [];
  if (first !== undefined) return first;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const path = unknownBelow(item);
    if (path !== null) return path;
  }
  return null;
}
