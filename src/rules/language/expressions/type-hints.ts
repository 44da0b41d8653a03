import { TEXT, type DataType, type ObjectType } from '../../../core/data-types.js';
import { didYouMean } from '../../../core/did-you-mean.js';
import { ownValue } from '../../../core/table.js';
import type { Expr } from './parse-expression.js';
import { constantText, pathOf } from './tree.js';
import type { TypeNotes } from './type-notes.js';
import { withArticle } from './words.js';

export const FIELD_HINTS: Partial<Record<DataType['kind'], string>> = {
  list: 'of one: [0]; of any: .exists(x, x.name == "…"); of all: .map(x, x.name)',
  string: 'it is a text already',
};

export const BOOL_HINTS: Partial<Record<DataType['kind'], string>> = {
  int: 'compare it: … > 0',
  string: 'compare it: … != ""',
  list: 'ask for its size: ….size() > 0',
  object: 'ask whether it is there: … != null',
  map: 'ask whether it is there: … != null',
};

export const MAX_LISTED = 16;

export function isOneOf(type: DataType, kinds: ReadonlyArray<DataType['kind']>): boolean {
  return kinds.includes(type.kind);
}

export function numeric(type: DataType): boolean {
  return type.kind === 'int' || type.kind === 'double';
}

/** A literal's own value says nothing about what else may stand there. */
export function widen(type: DataType): DataType {
  return type.kind === 'string' && type.values ? TEXT : type;
}

/** @returns why two values can never be equal; null = they may */
export function whyNeverEqual(left: DataType, right: DataType): string | null {
  if ([left, right].some(({ kind }) => kind === 'dyn' || kind === 'null')) return null;
  if (numeric(left) && numeric(right)) return null;
  if (left.kind === 'string' && right.kind === 'string') {
    const isDisjoint = left.values && right.values && !left.values.some((value) => right.values?.includes(value));
    return isDisjoint ? 'these never meet' : null;
  }
  const isMap = (type: DataType): boolean => isOneOf(type, ['map', 'object', 'either']);
  if (left.kind === right.kind || (isMap(left) && isMap(right))) return null;
  return `${withArticle(left)} never equals ${withArticle(right)}`;
}

/** The values a field can have, and the one word that is none of them. */
export function allValues(left: DataType, right: DataType): readonly [readonly string[], string] | null {
  if (left.kind !== 'string' || right.kind !== 'string' || !left.values || !right.values) return null;
  if (right.values.length === 1) return [left.values, right.values[0] ?? ''];
  return left.values.length === 1 ? [right.values, left.values[0] ?? ''] : null;
}

export function suggestValue(word: string, choices: readonly string[]): string {
  const near = didYouMean(word, choices);
  return near !== null ? `did you mean "${near}"?` : `it may be: ${choices.slice(0, MAX_LISTED).join(', ')}`;
}

/** A field of the object is meant: `event.actor == "ann"`. */
export function objectHint(left: DataType, right: DataType, args: readonly Expr[]): string | null {
  const at =
    left.kind === 'object' && right.kind === 'string' ? 0 : right.kind === 'object' && left.kind === 'string' ? 1 : -1;
  const type = at === 0 ? left : right;
  const [path, fields] = [at === -1 || !args[at] ? null : pathOf(args[at]), type.kind === 'object' ? type.fields : {}];
  const field = ['login', 'full_name', 'name', 'title', 'tag_name', 'ref', 'state', 'id'].find((one) =>
    Object.hasOwn(fields, one),
  );
  return path !== null && field !== undefined ? `compare a field of it: ${path}.${field}` : null;
}

/** The field that people look for one level too high: `event.title` is `event.issue.title`. */
export function placesOf(name: string, type: ObjectType, path: string | null): string | null {
  if (path === null) return null;
  const joined = /^([a-z]+)_(\w+)$/.exec(name);
  const outer = joined && ownValue(type.fields, joined[1] ?? '')?.type;
  if (joined && outer?.kind === 'object' && Object.hasOwn(outer.fields, joined[2] ?? ''))
    return `${path}.${joined[1]}.${joined[2]}`;
  const holders = Object.entries(type.fields).filter(
    ([, { type: inner }]) =>
      inner.kind === 'object' && inner.name !== 'EventRepository' && Object.hasOwn(inner.fields, name),
  );
  const [only] = holders;
  return only && holders.length <= 2 ? holders.map(([field]) => `${path}.${field}.${name}`).join(' or ') : null;
}

export function equalityHint(left: DataType, right: DataType, literal: Expr | null, notes: TypeNotes): string | null {
  const types = [left, right];
  const has = (kind: DataType['kind']): boolean => types.some((type) => type.kind === kind);
  const word =
    literal === null
      ? '…'
      : (constantText(literal) ?? /^-?[\w.]+/.exec(notes.source.slice(notes.offset(literal)))?.[0] ?? '…');
  if (types.some((type) => type.kind === 'string' && type.isId) && has('int')) return `ids are texts: "${word}"`;
  if (has('time') && has('string')) return `timestamp("${word.includes('T') ? word : '2026-12-31T00:00:00Z'}")`;
  if (has('duration') && has('string')) return `duration("${word}")`;
  if (has('string') && has('int'))
    return literal && /^-?\d+$/.test(constantText(literal) ?? '')
      ? `without quotes: ${word}`
      : literal && constantText(literal) !== undefined
        ? null
        : 'int(…) reads a number from a text';
  if (has('bool') && has('string') && (word === 'true' || word === 'false')) return `without quotes: ${word}`;
  if (has('list')) return 'for one of a list: value in list, or list.exists(x, …)';
  return null;
}

export function orderHint(left: DataType, right: DataType): string | null {
  const types = [left, right];
  if (types.some(({ kind }) => kind === 'time') && types.some(({ kind }) => kind === 'duration'))
    return 'how long ago a time was: age(time) > duration("36h")';
  return types.some(({ kind }) => kind === 'list') ? 'ask for its size: ….size() > 0' : null;
}
