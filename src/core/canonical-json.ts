import type { Json } from './json.js';
import { stringifyJson } from './json.js';

/** JSON text with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return stringifyJson(sorted(value as Json));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name): [string, Json] => [name, sorted(value[name] ?? null)]));
}
