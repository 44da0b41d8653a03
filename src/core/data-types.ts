import { ownValue } from './table.js';

/** What a value is, as far as it can be told before anything runs. Ids are texts of digits; whole numbers are `int`. */
export type DataType =
  | { readonly kind: 'dyn' | 'bool' | 'int' | 'double' | 'bytes' | 'time' | 'duration' | 'null' | 'type' }
  | {
      readonly kind: 'string';
      /** Every value it can have; absent = any text. */ readonly values?: readonly string[];
      /** A number of the forge, held as text. */ readonly isId?: true;
    }
  | { readonly kind: 'list'; readonly of: DataType }
  /** Any keys, one type of value. */
  | { readonly kind: 'map'; readonly of: DataType }
  | ObjectType
  /** One of several objects, each with what it stands for (an event of several kinds). */
  | { readonly kind: 'either'; readonly of: ReadonlyArray<{ readonly name: string; readonly type: ObjectType }> };

export interface ObjectType {
  readonly kind: 'object';
  /** As people call it: `Release`, `event`. */
  readonly name: string;
  readonly summary?: string;
  readonly fields: Readonly<Record<string, DataField>>;
}

export interface DataField {
  readonly type: DataType;
  /** Some sources or servers leave it out, or say null. */
  readonly optional: boolean;
  readonly summary?: string;
}

export const DYN: DataType = { kind: 'dyn' };
export const BOOL: DataType = { kind: 'bool' };
export const INT: DataType = { kind: 'int' };
export const TEXT: DataType = { kind: 'string' };
export const ID: DataType = { kind: 'string', isId: true };
export const TIME: DataType = { kind: 'time' };

export function listOf(of: DataType): DataType {
  return { kind: 'list', of };
}

export function oneOf(...values: string[]): DataType {
  return { kind: 'string', values };
}

/** An object of ours: fields with what they mean; `optional` ones are absent where a source does not tell them. */
export function ownObject(
  name: string,
  fields: Readonly<Record<string, readonly [type: DataType, summary: string, optional?: 'optional']>>,
): ObjectType {
  return {
    kind: 'object',
    name,
    fields: Object.fromEntries(
      Object.entries(fields).map(([field, [type, summary, optional]]) => [
        field,
        { type, summary, optional: optional !== undefined },
      ]),
    ),
  };
}

/** The type of constant data. */
export function typeOfValue(value: unknown): DataType {
  switch (typeof value) {
    case 'boolean':
      return BOOL;
    case 'string':
      return TEXT;
    case 'bigint':
      return INT;
    case 'number':
      return Number.isInteger(value) ? INT : { kind: 'double' };
    case 'object': {
      if (value === null) return DYN;
      if (Array.isArray(value)) return listOf(commonType(value.map(typeOfValue)));
      return {
        kind: 'object',
        name: '',
        fields: Object.fromEntries(
          Object.entries(value).map(([key, item]) => [key, { type: typeOfValue(item), optional: false }]),
        ),
      };
    }
    default:
      return DYN;
  }
}

/** A type that fits all of the given; objects that differ become one with the fields of all. */
export function commonType(types: readonly DataType[]): DataType {
  const [first, ...rest] = types;
  return first ? rest.reduce(merge, first) : DYN;
}

function merge(a: DataType, b: DataType): DataType {
  if (a === b) return a;
  if (a.kind === 'string' && b.kind === 'string')
    return a.values && b.values ? oneOf(...new Set([...a.values, ...b.values])) : TEXT;
  if (a.kind === 'list' && b.kind === 'list') return listOf(merge(a.of, b.of));
  if (a.kind === 'map' && b.kind === 'map') return { kind: 'map', of: merge(a.of, b.of) };
  if (a.kind === 'object' && b.kind === 'object') return mergeObjects(a, b);
  return a.kind === b.kind && a.kind !== 'either' ? a : DYN;
}

function mergeObjects(a: ObjectType, b: ObjectType): ObjectType {
  const names = new Set([...Object.keys(a.fields), ...Object.keys(b.fields)]);
  const fields = [...names].map((name): [string, DataField] => {
    const [inA, inB] = [ownValue(a.fields, name), ownValue(b.fields, name)];
    if (inA && inB) return [name, { ...inA, type: merge(inA.type, inB.type), optional: inA.optional || inB.optional }];
    return [name, { ...((inA ?? inB) as DataField), optional: true }];
  });
  return { kind: 'object', name: a.name, fields: Object.fromEntries(fields) };
}

/** For people: `text`, `list of texts`, `Release`. */
export function describeType(type: DataType): string {
  switch (type.kind) {
    case 'string':
      if (type.values) return type.values.map((value) => `"${value}"`).join(' or ');
      return type.isId ? 'id (text)' : 'text';
    case 'list':
      return type.of.kind === 'dyn' ? 'list' : `list of ${describeType(type.of)}`;
    case 'map':
      return `map of ${describeType(type.of)}`;
    case 'object':
      return type.name === '' ? 'map' : type.name;
    case 'either':
      return 'event';
    default:
      return WORDS[type.kind];
  }
}

const WORDS = {
  dyn: 'any value',
  bool: 'true or false',
  int: 'whole number',
  double: 'number',
  bytes: 'bytes',
  time: 'time',
  duration: 'duration',
  null: 'null',
  type: 'type',
} as const;
