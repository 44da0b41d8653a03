import type { DataType, ObjectType } from '../core/data-types.js';
import { EVENT_TYPES } from '../core/event-types.js';
import { type Json, type JsonObject, isJsonObject } from '../core/json.js';
import type { EventFact } from './event-fact.js';

/**
 * The lists of a fact, as its kind has them: servers write null for an empty list, so null becomes the empty list at any depth, and null entries
 * are skipped. A list that the source leaves out stays absent: it is unknown. Changes the fact's data in place, which nobody else holds yet.
 * @returns the same fact, with the number of skipped entries where there are any
 */
export function withReadLists(fact: EventFact): EventFact {
  const type = EVENT_TYPES.get(fact.kind)?.type;
  if (!type) return fact;
  const skipped = readObject(fact.data, type) + readRepo(fact, type);
  return skipped === 0 ? fact : { ...fact, skippedEntries: skipped };
}

function readRepo({ repo }: EventFact, { fields }: ObjectType): number {
  const type = fields['repo']?.type;
  return repo && type?.kind === 'object' ? readObject(repo as unknown as JsonObject, type) : 0;
}

/** Fields that are lists or hold some; most objects have few. */
const listFields = new WeakMap<ObjectType, ReadonlyArray<readonly [name: string, type: DataType]>>();

function readObject(object: JsonObject, type: ObjectType): number {
  let skipped = 0;
  for (const [name, field] of listFieldsOf(type)) {
    const value = object[name];
    if (value === undefined) continue;
    if (field.kind === 'list') {
      const list = Array.isArray(value) ? value.filter((item) => item !== null) : value === null ? [] : value;
      if (Array.isArray(value) && Array.isArray(list)) skipped += value.length - list.length;
      object[name] = list;
      if (Array.isArray(list)) for (const item of list) skipped += readValue(item, field.of);
    } else skipped += readValue(value, field);
  }
  return skipped;
}

function readValue(value: Json, type: DataType): number {
  return type.kind === 'object' && isJsonObject(value) ? readObject(value, type) : 0;
}

function listFieldsOf(type: ObjectType): ReadonlyArray<readonly [name: string, type: DataType]> {
  let fields = listFields.get(type);
  if (!fields) {
    fields = Object.entries(type.fields)
      .map(([name, field]) => [name, field.type] as const)
      .filter(([, field]) => field.kind === 'list' || (field.kind === 'object' && listFieldsOf(field).length > 0));
    listFields.set(type, fields);
  }
  return fields;
}
