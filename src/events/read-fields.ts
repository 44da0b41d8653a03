import { isIdKey } from '../core/ids.js';
import type { EventActor, EventRepository } from '../core/event.js';
import { type Json, type JsonObject, isJsonObject, parseJson } from '../core/json.js';
import { checkKeys } from '../core/scan-json.js';
import { Misfit } from './event-fact.js';

/** Deeper bodies are refused before; rows of the feed are flat. */
const MAX_DEPTH = 64;

/**
 * Parse an arrival's text into the form in which events hold it: every `id` and `*_id` a decimal string, no text that PostgreSQL's
 * jsonb cannot hold (U+0000 and lone surrogates become U+FFFD), no number that JSON cannot write.
 * @param keys how many the text has (`scanJson`): one that is lost, or is named `__proto__`, makes a misfit. Default: nobody counted
 */
export function readBody(text: string, keys?: number): JsonObject | Misfit {
  let body: Json;
  try {
    body = parseJson(text);
  } catch {
    return new Misfit('not JSON', 'not_json');
  }
  const flaw = keys === undefined ? null : checkKeys(body, keys);
  if (flaw) return new Misfit(`the body has ${flaw.text}`, flaw.code);
  if (!isJsonObject(body)) return new Misfit('not a JSON object', 'not_json');
  try {
    return cleanObject(body, 0, !ESCAPED_UNHOLDABLE.test(text) && text.isWellFormed());
  } catch (error) {
    if (error instanceof RangeError) return new Misfit('nested too deep', 'too_deep');
    throw error;
  }
}

/**
 * In place: nobody else has the object, and most of it stays as it is.
 * @param areTextsClean no text in it has to be looked at
 */
function cleanObject(object: JsonObject, depth: number, areTextsClean: boolean): JsonObject {
  if (depth >= MAX_DEPTH) throw new RangeError('nested too deep');
  for (const key in object) {
    const value = object[key] as Json;
    const clean =
      (typeof value === 'number' || typeof value === 'bigint') && isIdKey(key)
        ? String(value)
        : cleanValue(value, depth + 1, areTextsClean);
    const name = areTextsClean ? key : cleanText(key);
    if (name !== key || key === '__proto__') Reflect.deleteProperty(object, key);
    if (key === '__proto__') continue;
    if (name !== key || clean !== value) object[name] = clean;
  }
  return object;
}

function cleanValue(value: Json, depth: number, areTextsClean: boolean): Json {
  if (typeof value === 'string') return areTextsClean ? value : cleanText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) {
    if (depth >= MAX_DEPTH) throw new RangeError('nested too deep');
    for (const [index, item] of value.entries()) value[index] = cleanValue(item, depth + 1, areTextsClean);
    return value;
  }
  if (typeof value === 'object' && value !== null) return cleanObject(value, depth, areTextsClean);
  return value;
}

/** What the parser makes U+0000 or half of a surrogate pair of. JSON text holds U+0000 in no other way. */
const ESCAPED_UNHOLDABLE = /\\u(?:0000|[dD][89a-fA-F])/;

/** U+0000 and lone surrogates. */
const UNHOLDABLE = /[\u0000\p{Surrogate}]/gu;

function cleanText(text: string): string {
  return text.replace(UNHOLDABLE, '\uFFFD');
}

/** Before this instant a time means "unset" (1970 in any offset, 0001-01-01). */
const UNSET_BEFORE_MS = Date.UTC(1971, 0, 1);

export function objectOf(value: Json | undefined): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

/** An issue or pull request as it is after the act: where all labels were taken off, servers still show those that are gone. */
export function afterTheAct(subject: JsonObject | null, action: Json | undefined): JsonObject | null {
  return subject && action === 'label_cleared' ? { ...subject, labels: [] } : subject;
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Decimal string of an id; '' when there is none. */
export function idOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';
}

/** A time of the forge; null when missing, not a time, or "unset". */
export function timeOf(value: Json | undefined): Date | null {
  if (typeof value !== 'string' || value === '') return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) || ms < UNSET_BEFORE_MS ? null : new Date(ms);
}

/** First of several times that is set. */
export function firstTime(...values: readonly (Json | undefined)[]): Date | null {
  for (const value of values) {
    const time = timeOf(value);
    if (time) return time;
  }
  return null;
}

export function actorOf(user: Json | undefined): EventActor | null {
  const object = objectOf(user);
  if (!object) return null;
  const id = idOf(object.id);
  return id === '' ? null : { id, login: textOf(object.login) || textOf(object.username) };
}

/**
 * The repository as an arrival told it. `permissions` is left out: it belongs to some user, not to us (webhooks.md 4).
 * @returns null when the value is no repository (null in package events, rows whose repository cannot be loaded)
 */
export function repositoryOf(value: Json | undefined): EventRepository | null {
  const fields = objectOf(value);
  if (!fields) return null;
  const id = idOf(fields.id);
  const fullName = textOf(fields.full_name);
  if (id === '' || fullName === '') return null;
  // Repositories have many fields, and every delivery names one: a loop copies them in a third of the time of a rest pattern.
  const rest: JsonObject = {};
  for (const key in fields) if (key !== 'permissions' && key !== 'owner') rest[key] = fields[key] as Json;
  const owned = objectOf(fields.owner);
  const [ownerPart = '', namePart = ''] = fullName.split('/');
  return Object.assign(rest, {
    id,
    owner: (owned && (textOf(owned.login) || textOf(owned.username))) || ownerPart,
    name: textOf(fields.name) || namePart,
    full_name: fullName,
  });
}

/** `branch` or `tag` of a full ref; neither for other refs (`refs/pull/…`). */
export function namesOfRef(ref: string): { branch?: string; tag?: string } {
  if (ref.startsWith('refs/heads/')) return { branch: ref.slice('refs/heads/'.length) };
  if (ref.startsWith('refs/tags/')) return { tag: ref.slice('refs/tags/'.length) };
  return {};
}

/** The object without the keys whose value is undefined: what a source does not tell is absent, not null. */
export function definedFields(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const data: JsonObject = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) data[key] = value;
  return data;
}
