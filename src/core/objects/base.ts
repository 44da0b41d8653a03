import { z } from 'zod';
import { Secret } from '../../core/secret.js';

/** Before this instant a time means "unset" (1970-01-01 in any offset, 0001-01-01). */
const UNSET_BEFORE_MS = Date.UTC(1971, 0, 1);

/** Id of the forge: any JSON number, given to our code as decimal string. */
const idText = z.union([z.int(), z.bigint(), z.string().regex(/^-?\d{1,19}$/)]).transform(String);

/** Whole number that is no id; a bigint only beyond 2^53. */
export const whole = z.union([z.int(), z.bigint()]);

/** ISO time as sent by the forge; null when it means "unset". */
const timeText = z.string().transform((text, context) => {
  if (text === '') return null;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    context.addIssue({ code: 'custom', message: 'not a time' });
    return z.NEVER;
  }
  return ms < UNSET_BEFORE_MS ? null : text;
});

/** Text that must not be printed: held as Secret. */
const secretText = z.union([z.string().transform((text) => new Secret(text)), z.instanceof(Secret)]);

/** Secret text in a request body; revealed by the transport only. */
export const secretInput = z.union([z.string(), z.instanceof(Secret)]);

/** Every field of an answer may be absent or null. A list is never null: see `listOf`. */
export const id = idText.nullish();
export const int = whole.nullish();
export const text = z.string().nullish();
export const flag = z.boolean().nullish();
export const time = timeText.nullish();
export const secret = secretText.nullish();
export const texts = z.array(z.string().nullable()).nullable().transform(withoutNulls).optional();
/** Kept as it comes, and not looked into. */
export const anything = z.unknown().optional();
export const textMap = z.record(z.string(), z.string().nullable()).nullish();

/** Null entries of lists that were skipped since the process began. */
let skippedEntries = 0;

/** Reads an answer, and counts the null entries of its lists. */
export function countSkipped<Answer>(read: () => Answer): { readonly answer: Answer; readonly skipped: number } {
  const before = skippedEntries;
  const answer = read();
  return { answer, skipped: skippedEntries - before };
}

function withoutNulls<Item>(items: readonly (Item | null)[] | null): Item[] {
  if (items === null) return [];
  const present = items.filter((item): item is Item => item !== null);
  skippedEntries += items.length - present.length;
  return present;
}

const itemsOf = new WeakMap<z.ZodType, z.ZodType>();

/**
 * A list as servers answer it: null is the empty list, and null entries are skipped. A field that may be missing is
 * `listOf(…).optional()`: a missing list is unknown, not empty.
 */
export function listOf<Item extends z.ZodType>(item: Item) {
  const list = z
    .array(item.nullable())
    .nullable()
    .transform((items) => withoutNulls(items as readonly (z.output<Item> | null)[] | null));
  itemsOf.set(list, item);
  return list;
}

const valuesOf = new WeakMap<z.ZodType, readonly string[]>();

/** Text with the words that servers are known to use; another word is read too, since they may learn one. */
export function words(...values: string[]) {
  const word = z.string().nullish();
  valuesOf.set(word, values);
  return word;
}

export function wordsOf(schema: z.ZodType): readonly string[] | undefined {
  return valuesOf.get(schema);
}

/** What a list of `listOf` holds. */
export function itemOf(list: z.ZodType): z.ZodType | undefined {
  return itemsOf.get(list);
}

/** A list in which a null entry is an answer of its own: "this one could not be had" (op 5). */
export function listWithNulls<Item extends z.ZodType>(item: Item) {
  return z
    .array(item.nullable())
    .nullable()
    .transform((items) => items ?? []);
}

/** Answers without a specified body: nothing, or any JSON, which is dropped. */
export const nothing = z.unknown().transform((): undefined => undefined);

/** Id in a request body: decimal string or number in, JSON number out. */
export const idInput = z
  .union([z.int(), z.bigint(), z.string().regex(/^-?\d{1,19}$/)])
  .transform((value) => BigInt(value));
