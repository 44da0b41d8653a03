import { z } from 'zod';
import type { Json } from './json.js';

/** Parts of the schemas of what the control API answers. Each room has the schemas of what it makes; its types come from them. */

export const text = z.string();
export const maybeText = text.nullable();
export const texts = z.array(text);
export const time = z.date();
export const maybeTime = time.nullable();
export const count = z.number();
export const json = z.custom<Json>();
export const jsonObject = z.record(text, json) as unknown as z.ZodRecord<z.ZodString, z.ZodType<Json>>;
export const mode = z.enum(['live', 'dry-run']);

/** A text of a set of words that another part of the program defines. */
export const word = <Word extends string>() => text as unknown as z.ZodType<Word>;

type Words<Line extends string> = Line extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Line;

/** Several fields of one kind: `...fields('id org rule', text)`. */
export function fields<Line extends string, Of extends z.ZodType>(names: Line, of: Of): Record<Words<Line>, Of> {
  return Object.fromEntries(names.split(' ').map((name) => [name, of])) as Record<Words<Line>, Of>;
}

/** What a schema describes, as something that nobody may change. JSON values stay as they are. */
export type Shape<Schema extends z.ZodType> = Unchangeable<z.output<Schema>>;

export type Unchangeable<Value> = [Json] extends [Value]
  ? Value
  : Value extends Date
    ? Value
    : Value extends ReadonlyArray<infer Item>
      ? ReadonlyArray<Unchangeable<Item>>
      : Value extends object
        ? { readonly [Name in keyof Value]: Unchangeable<Value[Name]> }
        : Value;
