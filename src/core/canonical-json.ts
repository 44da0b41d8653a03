import { configure } from 'safe-stable-stringify';

const stringify = configure({ bigint: true, circularValue: TypeError });

/** JSON text with sorted keys, so that equal values have equal texts. A bigint is a number of all its digits. */
export function canonicalJson(value: unknown): string {
  return stringify(value) ?? 'null';
}
