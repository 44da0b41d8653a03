import { celList, celMap, celType, isCelList, isCelMap, isCelType, isCelUint } from '@bufbuild/cel';
import type { CelInput, CelList, CelMap, CelValue } from '@bufbuild/cel';
import { isRealTime } from '../../../core/real-time.js';
import { ExpressionError } from '../expression-engine.js';
import type { ExprValue } from '../expression-engine.js';
import { Span } from '../propose/asked-facts.js';
import { LazyMap } from './lazy-map.js';
import { guardUnknown, unknownIn, withUnknown } from './unknown.js';

const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';

/** Fields of the forge's objects that hold times beside all that end in `_at` and `_on`. */
const TIME_FIELDS = new Set([
  'created',
  'updated',
  'started',
  'stopped',
  'timestamp',
  'due_date',
  'last_update',
  'last_login',
  'mirror_updated',
  'last_author_date',
  'last_committer_date',
]);
/** The forge writes 1970 (or year 1) for "never". */
const UNSET_BEFORE_MS = Date.UTC(1971, 0, 1);

/** What `convert` gave out beside maps and lists: only these are taken as they are, so that no JSON can pose as a value of the library. */
const converted = new WeakSet<object>();

/**
 * What stands behind each list and map we made, on the value itself: a key that no JSON can have. Growing a list then copies memory instead of
 * walking generators, and results can be read after the evaluation: outside of one the library cannot give out the times it has not unpacked yet.
 */
const BACKING = Symbol('what stands behind a value of ours');
type Backed<Behind> = { [BACKING]?: Behind };

/**
 * JSON-like data as CEL values: whole numbers int, other numbers double, known time fields timestamps (null when unset), objects maps
 * (whose fields are converted when they are first read).
 * What this gave out once is taken as it is.
 */
export function convert(value: unknown): CelInput {
  const result = toCel(value);
  if (typeof result === 'object' && result !== null && !(BACKING in result)) converted.add(result);
  return result;
}

function toCel(value: unknown, field = ''): CelInput {
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? BigInt(value) : value;
    case 'string':
      return isTimeField(field) ? timeOrText(value) : value;
    case 'boolean':
    case 'bigint':
      return value;
    case 'object':
      return value === null ? null : objectToCel(value);
    default:
      throw new TypeError(`${typeof value} is no data`);
  }
}

function objectToCel(value: object): CelInput {
  if (BACKING in value || converted.has(value)) return value as CelInput;
  if (value instanceof Date) return timestampOf(value.getTime());
  if (value instanceof Span)
    return { $typeName: DURATION, seconds: value.seconds, nanos: value.nanos } as unknown as CelInput;
  if (Array.isArray(value)) return listOf(value.map((item) => toCel(item)));
  const map = new LazyMap(value, toCel);
  const result: CelMap & Backed<LazyMap> = celMap(map as ReadonlyMap<string, CelInput>);
  result[BACKING] = map;
  const unknown = unknownIn(value);
  return unknown ? guardUnknown(result, map, unknown) : result;
}

export function listOf(items: readonly CelInput[]): CelList {
  const list: CelList & Backed<readonly CelInput[]> = celList(items);
  list[BACKING] = items;
  return list;
}

export function concat(left: CelList, right: CelList): CelList {
  return listOf([...itemsOf(left), ...itemsOf(right)]);
}

/** A field of a converted value, as it is kept; undefined when there is none. */
export function peek(value: unknown, field: string): unknown {
  return isCelMap(value) ? behindMap(value)?.get(field) : undefined;
}

/** The fields of a map that it has. */
export function namesIn(map: CelMap): string[] {
  return [...(behindMap(map) ?? map).keys()].map(String);
}

function itemsOf(list: CelList): readonly CelInput[] {
  return (list as Backed<readonly CelInput[]>)[BACKING] ?? [...list];
}

function behindMap(map: CelMap): LazyMap | undefined {
  return (map as Backed<LazyMap>)[BACKING];
}

/**
 * A CEL value as plain data: int bigint, timestamps Date, durations seconds and nanos, maps objects without prototype surprises.
 * @throws ExpressionError for bytes and types, which nothing outside an expression understands
 */
export function fromCel(value: CelInput): ExprValue {
  switch (typeof value) {
    case 'number':
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    default:
      return value === null ? null : objectFromCel(value);
  }
}

function objectFromCel(value: object): ExprValue {
  if (isCelList(value)) return itemsOf(value).map(fromCel);
  if (isCelMap(value)) return mapFromCel(value);
  if (isCelUint(value)) return value.value;
  if (!isCelType(value) && !(value instanceof Uint8Array)) {
    const message = 'message' in value ? (value.message as MessageLike) : (value as MessageLike);
    if (message.$typeName === TIMESTAMP)
      return new Date(Number(message.seconds) * 1000 + Math.trunc(message.nanos / 1e6));
    if (message.$typeName === DURATION) return { seconds: message.seconds, nanos: message.nanos };
  }
  throw new ExpressionError(`a value of type ${celType(value as CelValue).name} cannot leave an expression`);
}

function mapFromCel(map: CelMap): ExprValue {
  const behind = behindMap(map);
  const value = Object.fromEntries(
    [...(behind ?? map)].map(([key, item]) => [isCelUint(key) ? String(key.value) : String(key), fromCel(item)]),
  );
  return withUnknown(value, behind?.unknown);
}

interface MessageLike {
  $typeName: string;
  seconds: bigint;
  nanos: number;
}

/** The time that a converted Date holds; 1970 for anything else. */
export function timeOf(value: CelInput | undefined): Date {
  const { $typeName, seconds = 0n, nanos = 0 } = (value ?? {}) as Partial<MessageLike>;
  return $typeName === TIMESTAMP ? new Date(Number(seconds) * 1000 + Math.trunc(nanos / 1e6)) : new Date(0);
}

function timestampOf(ms: number): CelInput {
  const seconds = Math.floor(ms / 1000);
  return { $typeName: TIMESTAMP, seconds: BigInt(seconds), nanos: (ms - seconds * 1000) * 1e6 } as unknown as CelInput;
}

function isTimeField(field: string): boolean {
  return field.endsWith('_at') || field.endsWith('_on') || TIME_FIELDS.has(field);
}

function timeOrText(text: string): CelInput {
  const ms = isRealTime(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return text;
  return ms < UNSET_BEFORE_MS ? null : timestampOf(ms);
}
