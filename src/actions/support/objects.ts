import { textOf } from '../define-action.js';
import type { Json, JsonObject } from '../../core/json.js';

/**
 * Which objects of its repository an intent writes and names, in words that are equal where the forge sees one object. Parameters are taken as they are
 * planned: secrets as references. Where nothing is named, there is no object.
 */

/** Issues and pull requests share their numbers. */
export const issue = (number: Json | undefined): string => object('issue', number);
export const label = (name: Json | undefined): string => object('label', name);
export const milestone = (title: Json | undefined): string => object('milestone', title);
export const branch = (name: Json | undefined): string => object('branch', name);
export const tag = (name: Json | undefined): string => object('tag', name);
export const mirror = (address: string): string => object('mirror', address);

/** By its number, or by its tag where the number is not known: which of them are one release, only the forge knows. */
export const release = ({ id, tag: name }: JsonObject): string =>
  textOf(id).trim() === '' ? object('release of tag', name) : object('release', id);

/** One object for each text of a list parameter; none where it is no list (yet). */
export function each(list: Json | undefined, of: (name: Json) => string): string[] {
  return Array.isArray(list) ? list.map(of) : [];
}

/** One object where the parameter is given. */
export function ifNamed(value: Json | undefined, of: (name: Json) => string): string[] {
  return value === undefined || textOf(value).trim() === '' ? [] : [of(value)];
}

/** Longer than any name that a forge takes: names that are cut hold back more than they must, never less. */
const LONGEST = 500;

function object(kind: string, name: Json | undefined): string {
  // One object is one line in the store.
  return `${kind} ${textOf(name)
    .replace(/[\u0000-\u001f\u2028\u2029]/g, ' ')
    .trim()
    .slice(0, LONGEST)}`;
}
