import { z } from 'zod';
import type { Json } from '../../core/json.js';
import { isRealDay, isRealTime } from '../../core/real-time.js';
import { Secret } from '../../core/secret.js';
import type { ActionFacts } from '../../rules/language/catalogue.js';

type ParamFacts = ActionFacts['params'][string];

/** One parameter: what the compiler must know, and the schema of the value that reaches `ensure`. */
export interface ActionParam<Schema extends z.ZodType = z.ZodType> {
  readonly facts: ParamFacts;
  readonly schema: Schema;
}

/** Why a value is refused, or null. */
type Check = (value: string) => string | null;

const MAX_TEXT = 65_536;

/** Required text. `check` gives a reason to refuse the value, or null. */
export function text(
  summary: string,
  { max = MAX_TEXT, check, example }: { max?: number; check?: Check; example?: string } = {},
): ActionParam<z.ZodType<string>> {
  const facts = { type: 'string' as const, required: true, summary, ...(example === undefined ? {} : { example }) };
  return { facts, schema: textSchema(max, check) };
}

/** A whole commit id: what is cut may be another commit. */
export function commitId(summary: string): ActionParam<z.ZodType<string>> {
  return text(summary, {
    check: (sha) => (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha) ? null : 'must be a whole commit id'),
  });
}

/** Text that the forge shows as Markdown: what comes from events and lookups is escaped in it. */
export function markdown(summary: string, how: { max?: number; check?: Check } = {}): ActionParam<z.ZodType<string>> {
  const { facts, schema } = text(summary, how);
  return { facts: { ...facts, markdown: true }, schema };
}

/** One line that the forge shows as it is, such as a description: what events and lookups tell becomes one line without signs that nobody sees. */
export function line(summary: string, how: { max: number; check?: Check }): ActionParam<z.ZodType<string>> {
  const { facts, schema } = text(summary, how);
  return { facts: { ...facts, line: true }, schema };
}

/** Title that the forge shows as it is: what events and lookups tell becomes one line in it, mentions nobody and refers to nothing. */
export function title(summary: string, how: { max: number; check?: Check }): ActionParam<z.ZodType<string>> {
  const { facts, schema } = text(summary, how);
  return { facts: { ...facts, title: true }, schema };
}

/** Text that a service or program outside of the forge shows: what events and lookups tell mentions nobody in it, and leads nowhere. */
export function chat(summary: string, how: { max: number; check?: Check }): ActionParam<z.ZodType<string>> {
  const { facts, schema } = text(summary, how);
  return { facts: { ...facts, chat: true }, schema };
}

/** One of a few words. */
export function choice<const Word extends string>(
  summary: string,
  { words }: { words: readonly Word[] },
): ActionParam<z.ZodType<Word>> {
  const schema = z
    .string()
    .refine(
      (value) => (words as readonly string[]).includes(value),
      `must be ${words.join(', ')}`,
    ) as unknown as z.ZodType<Word>;
  return { facts: { type: 'string', required: true, summary }, schema };
}

/** A list of texts, or one. `check` is asked about each. */
export function texts(
  summary: string,
  { max = 100, check }: { max?: number; check?: Check } = {},
): ActionParam<z.ZodType<string[]>> {
  const one = textSchema(MAX_TEXT, (value) => (value.trim() === '' ? 'must not be empty' : (check?.(value) ?? null)));
  const schema = z
    .union([one.transform((value) => [value]), z.array(one)])
    .refine((list) => list.length <= max, `must not have more than ${max} items`);
  return { facts: { type: 'strings', required: true, summary }, schema: schema as unknown as z.ZodType<string[]> };
}

/** A whole number, as a number. */
export function whole(
  summary: string,
  { min = 0, max = 1_000_000 }: { min?: number; max?: number } = {},
): ActionParam<z.ZodType<number>> {
  const schema = z
    .union([z.int(), z.bigint(), z.string().regex(/^\d{1,9}$/)], 'must be a whole number')
    .transform(Number)
    .refine(
      (value) => value >= min && value <= max,
      `must be between ${min} and ${max}`,
    ) as unknown as z.ZodType<number>;
  return { facts: { type: 'integer', required: true, summary }, schema };
}

/** Names with values that are texts. */
export function textMap(summary: string): ActionParam<z.ZodType<Record<string, string>>> {
  return {
    facts: { type: 'any', required: true, summary },
    schema: z.record(z.string(), z.string(), 'must be a map of texts'),
  };
}

export function flag(summary: string): ActionParam<z.ZodType<boolean>> {
  return { facts: { type: 'boolean', required: true, summary }, schema: z.boolean() };
}

/** Id of the forge: decimal string, or a whole number from a rule file. */
export function id(summary: string): ActionParam<z.ZodType<string>> {
  const schema = z
    .union([z.string(), z.int(), z.bigint()])
    .transform(String)
    .refine(
      (value) => /^[1-9]\d{0,18}$/.test(value),
      'must be a positive whole number',
    ) as unknown as z.ZodType<string>;
  return { facts: { type: 'string', required: true, summary, names: 'number' }, schema };
}

/** The same parameter, which names a branch or tag: `main`, and never `refs/heads/main`. */
export function naming<Param extends ActionParam>(names: 'branch' | 'tag', { facts, schema }: Param): Param {
  return { facts: { ...facts, names }, schema } as Param;
}

/** The same parameter, which names objects of this kind that must be there. */
export function referring<Param extends ActionParam>(
  refersTo: NonNullable<ParamFacts['refersTo']>,
  { facts, schema }: Param,
): Param {
  return { facts: { ...facts, refersTo }, schema } as Param;
}

/** A time (RFC 3339) or a day (YYYY-MM-DD). */
export function time(summary: string): ActionParam<z.ZodType<string>> {
  const schema = z
    .string()
    .refine(
      (value) => isRealTime(value) || isRealDay(value),
      'must be a time such as 2027-01-31T12:00:00Z, or a day such as 2027-01-31',
    );
  return { facts: { type: 'time', required: true, summary }, schema };
}

/** A secret of the operator's config: rules write `${{ secrets.NAME }}`, intents hold the name alone. */
export function secret(summary: string): ActionParam<z.ZodType<Secret>> {
  return { facts: { type: 'string', required: true, secret: true, summary }, schema: z.instanceof(Secret) };
}

/** A value that is kept sealed from the decision on. */
export function sealed(summary: string, { check }: { check?: Check } = {}): ActionParam<z.ZodType<Secret>> {
  const schema = z.instanceof(Secret).superRefine((value, context) => {
    const problem = check?.(value.reveal()) ?? null;
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });
  return { facts: { type: 'string', required: true, sealed: true, summary }, schema };
}

/** Left out means: not looked at, not changed. */
export function optional<Value>(param: ActionParam<z.ZodType<Value>>): ActionParam<z.ZodType<Value | undefined>> {
  return {
    facts: { ...param.facts, required: false },
    schema: param.schema.optional() as unknown as z.ZodType<Value | undefined>,
  };
}

export type ParamSpecs = Readonly<Record<string, ActionParam>>;
export type ParamsOf<Specs extends ParamSpecs> = { readonly [Name in keyof Specs]: z.output<Specs[Name]['schema']> };

/** Why a constant of a rule file cannot be used, or null; secrets and sealed values are looked at as text. */
export function checkParam(param: ActionParam, value: Json): string | null {
  const asSecret = param.facts.sealed === true && typeof value === 'string';
  const result = param.schema.safeParse(asSecret ? new Secret(value) : value);
  return result.success ? null : (result.error.issues[0]?.message ?? 'is not valid');
}

function textSchema(max: number, check?: Check): z.ZodType<string> {
  return z
    .string()
    .max(max, `must not be longer than ${max} characters`)
    .superRefine((value, context) => {
      const problem = check?.(value) ?? null;
      if (problem) context.addIssue({ code: 'custom', message: problem });
    });
}
