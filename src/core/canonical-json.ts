import type { Json } from './json.js';
import { stringifyJson } from './json.js';

/** JSON text in which the keys of every object stand in one order: equal values, equal text. */
export function canonicalJson(value: unknown): string {
  return stringifyJson(sorted(value as Json));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name): [string, Json] => [name, sorted(value[name] ?? null)]));
}
