import type { Json } from '../../../core/json.js';
import type { ExprPath } from '../expression-engine.js';
import { emptyTable } from '../../../core/table.js';

const MAX_TEXT = 200;
const MAX_PATHS = 20;
/** Lists of a few short values are shown as they are. */
const SHORT_LIST = 5;
const SHORT_TEXT = 60;
/** Fields of the forge's answers that people must not find in a trace. */
const HIDDEN = /(secret|password|passwd|authorization|sha1|token|private_key)/i;

/** Whether a field of this name is hidden from people. */
export function isHiddenName(name: string): boolean {
  return HIDDEN.test(name);
}

/** What an expression saw: the value at each path it reads, cut to what a person takes in at a glance. */
export function seenValues(paths: readonly ExprPath[], raw: Readonly<Record<string, unknown>>): Record<string, Json> {
  const seen: Record<string, Json> = emptyTable();
  for (const { name, segments, isHidden } of prepared(paths))
    seen[name] = isHidden ? '(hidden)' : show(follow(segments, raw));
  return seen;
}

interface Shown {
  readonly name: string;
  readonly segments: readonly string[];
  readonly isHidden: boolean;
}

/** An expression's paths never change, and its trace is made again and again. */
const cache = new WeakMap<readonly ExprPath[], readonly Shown[]>();

function prepared(paths: readonly ExprPath[]): readonly Shown[] {
  let shownPaths = cache.get(paths);
  if (!shownPaths) {
    const names = new Map(paths.slice(0, MAX_PATHS).map(({ segments }) => [segments.join('.'), segments]));
    shownPaths = [...names].map(([name, segments]) => ({ name, segments, isHidden: segments.some(isHiddenName) }));
    cache.set(paths, shownPaths);
  }
  return shownPaths;
}

/** What stands at a path in plain data; undefined when nothing does. */
export function follow(segments: readonly string[], raw: Readonly<Record<string, unknown>>): unknown {
  let value: unknown = raw;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

/** What a side of a comparison gave. A value that was made from something hidden is hidden, unless it only counts or compares. */
export function shownSide(text: string, value: unknown): Json {
  return hideWhere(text, show(value));
}

/** Something shown, hidden when it came out of an expression that names what people must not find in a trace. */
export function hideWhere(text: string, value: Json): Json {
  const isHarmless =
    typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint' || value === null;
  return HIDDEN.test(text) && !isHarmless ? '(hidden)' : value;
}

function show(value: unknown): Json {
  switch (typeof value) {
    case 'undefined':
      return '(absent)';
    case 'string':
      return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}… (${value.length} characters)` : value;
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'number':
    case 'boolean':
      return value;
    default:
      return value === null ? null : showObject(value as object);
  }
}

function showObject(value: object): Json {
  if (value instanceof Date) return value.toISOString();
  if (isDuration(value)) return `${value.seconds}s`;
  if (!Array.isArray(value)) return `(map of ${Object.keys(value).length})`;
  const isShort = value.length > 0 && value.length <= SHORT_LIST && value.every(isShortScalar);
  return isShort ? value.map(show) : `(list of ${value.length})`;
}

function isShortScalar(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= SHORT_TEXT : value === null || typeof value !== 'object';
}

/** As expressions give it; nothing in JSON has a bigint under `seconds` and nothing else beside `nanos`. */
function isDuration(value: object): value is { seconds: bigint; nanos: number } {
  return Object.keys(value).length === 2 && 'nanos' in value && 'seconds' in value && typeof value.seconds === 'bigint';
}
