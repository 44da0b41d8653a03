import { isJsonObject, type Json, type JsonObject, parseJson } from '../core/json.js';
import { unprocessable } from './answer.js';
import type { Call } from './handler.js';

/** Rules of one body field. Unknown fields are ignored; `null` counts as absent. */
interface Rules {
  required?: boolean;
  /** In characters. */
  max?: number;
  /** Name in the refusal; default the key in camel case. */
  label?: string;
  /** A further rule: its name when it is broken. */
  rule?: (value: string) => string | undefined;
}

type Kind = 'text' | 'flag' | 'int' | 'id' | 'texts' | 'ids' | 'time' | 'object' | 'any';

interface Field<T> extends Rules {
  kind: Kind;
  /** Carries the type only. */
  value?: T;
}

/** The fields a body may have; `bind` gives the value or undefined. */
export const field = {
  text: (rules: Rules = {}): Field<string> => ({ ...rules, kind: 'text' }),
  flag: (rules: Rules = {}): Field<boolean> => ({ ...rules, kind: 'flag' }),
  int: (rules: Rules = {}): Field<number> => ({ ...rules, kind: 'int' }),
  id: (rules: Rules = {}): Field<bigint> => ({ ...rules, kind: 'id' }),
  texts: (rules: Rules = {}): Field<string[]> => ({ ...rules, kind: 'texts' }),
  ids: (rules: Rules = {}): Field<bigint[]> => ({ ...rules, kind: 'ids' }),
  /** RFC 3339 with time and zone; seconds since 1970. */
  time: (rules: Rules = {}): Field<number> => ({ ...rules, kind: 'time' }),
  object: (rules: Rules = {}): Field<JsonObject> => ({ ...rules, kind: 'object' }),
  any: (rules: Rules = {}): Field<Json> => ({ ...rules, kind: 'any' }),
};

type Fields = Record<string, Field<unknown>>;
export type Bound<F extends Fields> = { [Key in keyof F]: (F[Key] extends Field<infer T> ? T : never) | undefined };

/**
 * Reads the body by the rules of real servers: JSON or form by content type, a first JSON value only, `null` and nothing as `{}`,
 * keys without regard to case, types strict, then the rules of each field in order.
 * @throws Refusal 422
 */
export function bind<F extends Fields>(call: Call, fields: F): Bound<F> {
  const body = bodyObject(call, fields);
  const bound: Record<string, unknown> = {};
  for (const [key, spec] of Object.entries(fields)) bound[key] = typed(key, spec, valueOf(body, key));
  for (const [key, spec] of Object.entries(fields)) check(spec.label ?? labelOf(key), spec, bound[key]);
  return bound as Bound<F>;
}

/** A time as the body writes it, with the offset that `bind` reckons away. */
export function writtenTime(call: Call, key: string): string {
  const value = valueOf(bodyObject(call), key);
  return typeof value === 'string' ? value : '';
}

/** The body as an object, before any rule. */
function bodyObject(call: Call, fields: Fields = {}): JsonObject {
  const type = call.contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '') {
    if (call.method === 'POST' || call.method === 'PUT') throw unprocessable('[]: Empty Content-Type');
    return {};
  }
  if (type === 'application/x-www-form-urlencoded' || type === 'multipart/form-data')
    return fromForm(call.bodyText, fields);
  if (!type.includes('json')) throw unprocessable('[]: Unsupported Content-Type');
  const value = firstJson(call.bodyText);
  if (value === null) return {};
  if (!isJsonObject(value)) throw unprocessable(`[]: json: cannot unmarshal ${typeWord(value)} into Go value`);
  return value;
}

/** The first JSON value of a text; what stands behind it is ignored, nothing at all is null. */
export function firstJson(text: string): Json {
  if (text.trim() === '') return null;
  try {
    return parseJson(text.slice(0, endOfFirstValue(text)));
  } catch (error) {
    throw unprocessable(`[]: ${error instanceof Error ? error.message : 'invalid JSON'}`);
  }
}

function endOfFirstValue(text: string): number {
  let depth = 0;
  let inString = false;
  for (let i = text.search(/\S/); i < text.length; i += 1) {
    const c = text[i] ?? '';
    if (inString) {
      if (c === '\\') i += 1;
      else if (c === '"') inString = false;
      if (!inString && depth === 0) return i + 1;
    } else if (c === '"') inString = true;
    else if (c === '{' || c === '[') depth += 1;
    else if (c === '}' || c === ']') {
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (depth === 0 && /\s/.test(c)) return i;
  }
  return text.length;
}

function fromForm(text: string, fields: Fields): JsonObject {
  const form = new URLSearchParams(text);
  const body: JsonObject = {};
  for (const [key, { kind }] of Object.entries(fields)) {
    const all = form.getAll(key);
    const [first] = all;
    if (first === undefined) continue;
    if (kind === 'texts') body[key] = all;
    else if (kind === 'ids') body[key] = all.map((one) => BigInt(/^\d+$/.test(one) ? one : 0));
    else if (kind === 'flag') body[key] = ['1', 't', 'true', 'on'].includes(first.toLowerCase());
    else if (kind === 'int' || kind === 'id') body[key] = /^-?\d+$/.test(first) ? BigInt(first) : 0;
    else body[key] = first;
  }
  return body;
}

function valueOf(body: JsonObject, key: string): Json | undefined {
  if (Object.hasOwn(body, key)) return body[key] ?? undefined;
  const other = Object.keys(body).find((name) => name.toLowerCase() === key.toLowerCase());
  return other === undefined ? undefined : (body[other] ?? undefined);
}

function typeWord(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

function isWhole(value: Json): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

function typed(key: string, { kind }: Field<unknown>, value: Json | undefined): unknown {
  if (value === undefined || value === null) return undefined;
  const wrong = () => unprocessable(`[]: json: cannot unmarshal ${typeWord(value)} into Go struct field ${key}`);
  switch (kind) {
    case 'text':
      if (typeof value !== 'string') throw wrong();
      return value;
    case 'flag':
      if (typeof value !== 'boolean') throw wrong();
      return value;
    case 'int':
      if (!isWhole(value)) throw wrong();
      return Number(value);
    case 'id':
      if (!isWhole(value)) throw wrong();
      return BigInt(value);
    case 'texts':
      if (!Array.isArray(value) || value.some((one) => typeof one !== 'string' && one !== null)) throw wrong();
      return value.map((one) => one ?? '');
    case 'ids':
      if (!Array.isArray(value) || !value.every(isWhole)) throw wrong();
      return value.map((one) => BigInt(one as number | bigint));
    case 'time':
      if (typeof value !== 'string' || !RFC3339.test(value) || Number.isNaN(Date.parse(value))) throw wrong();
      return Math.floor(Date.parse(value) / 1000);
    case 'object':
      if (!isJsonObject(value)) throw wrong();
      return value;
    case 'any':
      return value;
  }
}

function labelOf(key: string): string {
  return key
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function check(label: string, spec: Rules, value: unknown): void {
  if (spec.required && (value === undefined || value === '')) throw unprocessable(`[${label}]: Required`);
  if (typeof value !== 'string' || value === '') return;
  const broken = spec.rule?.(value) ?? (spec.max !== undefined && [...value].length > spec.max ? 'MaxSize' : undefined);
  if (broken) throw unprocessable(`[${label}]: ${broken}`);
}
