import type { Json } from '../core/json.js';
import { isJsonObject, stringifyJson } from '../core/json.js';
import { isSealed } from '../core/encryptor.js';
import { isHiddenName } from '../rules/language/trace/seen-values.js';

const MAX_TEXT = 60;
const MAX_FIELDS = 4;
const MAX_ITEMS = 3;

/** What a lookup answered, in one line. @param isFull nothing is cut */
export function shortAnswer(answer: Json | undefined, isFull = false): string {
  if (!isJsonObject(answer)) return 'not kept';
  if (isSealed(answer)) return '(sealed)';
  if (typeof answer['failed'] === 'string') return `failed: ${answer['failed']}`;
  const then = typeof answer['cachedAt'] === 'string' ? ` (an answer of ${answer['cachedAt']}, given again)` : '';
  if (answer['missing'] === true) return `not there${then}`;
  return 'value' in answer ? `${shortJson(answer['value'] ?? null, isFull)}${then}` : 'not kept';
}

/**
 * A value in one line: its first plain fields, or how many items it has, with `…` where something is left out; what people must not find in a trace is
 * not shown.
 * @param isFull all of it
 */
export function shortJson(value: Json, isFull = false, depth = 0): string {
  if (isFull) return stringifyJson(withoutHidden(value));
  if (typeof value === 'string')
    return value.length > MAX_TEXT ? `"${value.slice(0, MAX_TEXT)}…" (${value.length} characters)` : `"${value}"`;
  if (Array.isArray(value)) return shortList(value, depth);
  return isJsonObject(value) ? shortMap(value, depth) : stringifyJson(value);
}

function withoutHidden(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutHidden);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isHiddenName(name) ? '(hidden)' : withoutHidden(inner)]),
  );
}

function shortList(list: readonly Json[], depth: number): string {
  if (list.length === 0) return 'empty list';
  if (depth > 0) return `(list of ${list.length} …)`;
  const items = list.slice(0, MAX_ITEMS).map((item) => shortJson(item, false, depth + 1));
  return `list of ${list.length}: ${items.join(', ')}${list.length > MAX_ITEMS ? ', …' : ''}`;
}

function shortMap(map: { readonly [key: string]: Json }, depth: number): string {
  const plain = Object.entries(map).filter(([, value]) => value === null || typeof value !== 'object');
  const entries = plain
    .slice(0, depth > 0 ? 2 : MAX_FIELDS)
    .map(([name, value]) => `${name}: ${isHiddenName(name) ? '(hidden)' : shortJson(value, false, depth + 1)}`);
  const more = Object.keys(map).length - entries.length;
  return `{${[...entries, ...(more > 0 ? [`… ${more} more`] : [])].join(', ')}}`;
}
