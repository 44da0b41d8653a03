import type { AnswerOf } from '../../../api/operations/index.js';

/** As `ruleLanguage` tells it. */
export type Language = AnswerOf<'ruleLanguage'>;
type Types = Language['types'];
type Field = Types[string][string];

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly definitions?: Readonly<Record<string, Schema>>;
  /** A lookup has the parameters of the one that it uses. */
  readonly if?: Schema;
  readonly then?: Schema;
}

/** Something that can be written at a place, and what it means. */
export interface Offer {
  readonly word: string;
  readonly kind: 'key' | 'value' | 'field' | 'function';
  readonly detail: string;
}

/** Every schema that what stands at this place may follow. */
function schemasAt(root: Schema, path: readonly string[], used: string | null): Schema[] {
  let schemas = spread(root, root, used);
  for (const step of path) schemas = schemas.flatMap((schema) => below(root, schema, step, used));
  return schemas;
}

function below(root: Schema, schema: Schema, step: string, used: string | null): Schema[] {
  if (step === '[]') return schema.items ? spread(root, schema.items, used) : [];
  const { properties = {}, additionalProperties } = schema;
  const inner = Object.hasOwn(properties, step) ? properties[step] : additionalProperties;
  return typeof inner === 'object' ? spread(root, inner, used) : [];
}

/** A schema with its alternatives, each without references. */
function spread(root: Schema, schema: Schema, used: string | null): Schema[] {
  const name = schema.$ref?.replace('#/definitions/', '');
  const target = name === undefined ? undefined : root.definitions?.[name];
  const isUsed = used !== null && schema.if?.properties?.['use']?.const === used;
  const inner = [
    ...(target ? [target] : []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...(isUsed && schema.then ? [schema.then] : []),
  ];
  return [schema, ...inner.flatMap((one) => spread(root, one, used))];
}

/**
 * Keys that a map at this place may have.
 * @param used the lookup whose parameters may stand here
 */
export function keysAt({ schema }: Language, path: readonly string[], used: string | null): Offer[] {
  const offers = schemasAt(schema as Schema, path, used).flatMap(({ properties = {} }) =>
    Object.entries(properties).map(([word, one]) => ({
      word,
      kind: 'key' as const,
      detail:
        one.description ??
        spread(schema as Schema, one, used).find(({ description }) => description)?.description ??
        '',
    })),
  );
  return unique(offers);
}

/** Values that are known for this place. */
export function valuesAt({ schema, kinds }: Language, path: readonly string[], used: string | null): Offer[] {
  const root = schema as Schema;
  const schemas = schemasAt(root, path, used).flatMap((one) => [
    one,
    ...(one.items ? spread(root, one.items, used) : []),
  ]);
  const words = schemas.flatMap((one) => [...(one.enum ?? []), ...(one.const === undefined ? [] : [one.const])]);
  return unique(words.map((one) => ({ word: String(one), kind: 'value', detail: kinds[String(one)]?.summary ?? '' })));
}

/** `on` of the rule around a place, as far as it can be read. */
export function kindsAround(language: Language, text: string, offset: number): string[] {
  const lines = text.split('\n');
  const at = text.slice(0, offset).split('\n').length - 1;
  const isStart = (line: string): boolean => /^\s*-\s+(id|on)\s*:|^\s*-\s*\{\s*id\s*:/.test(line);
  let from = at;
  while (from > 0 && !isStart(lines[from] ?? '')) from -= 1;
  let to = at + 1;
  while (to < lines.length && !isStart(lines[to] ?? '')) to += 1;
  const rule = lines.slice(from, to).join('\n');
  const [, value = ''] = /\bon\s*:\s*((?:\[[^\]]*\]|[^\n,}]*)(?:\n\s*-\s+[\w.]+)*)/.exec(rule) ?? [];
  return value.split(/[^\w.]+/).filter((word) => Object.hasOwn(language.kinds, word));
}

/** The lookup that is named last before a place, or first behind it. */
export function lookupAround(text: string, offset: number): string | null {
  const names = [...text.matchAll(/\buse\s*:\s*["']?([\w.]+)/g)];
  return (names.findLast(({ index }) => index < offset) ?? names[0])?.[1] ?? null;
}

/** Fields of `event.release.author`, without the last name; null = nothing is known of it. */
export function fieldsOf(
  language: Language,
  kinds: readonly string[],
  path: readonly string[],
): Record<string, Field> | null {
  const [variable = '', ...names] = path;
  let types = typesOf(language, kinds, variable);
  for (const name of names)
    types = types.flatMap((type) => {
      const of = language.types[type]?.[name]?.of;
      return of === null || of === undefined ? [] : [of];
    });
  return types.length === 0 ? null : Object.assign({}, ...types.map((type) => language.types[type] ?? {}));
}

function typesOf(language: Language, kinds: readonly string[], variable: string): string[] {
  const kindNames = kinds.length > 0 ? kinds : Object.keys(language.kinds);
  const events = kindNames.flatMap((kind) => language.kinds[kind]?.of ?? []);
  if (variable === 'event') return events;
  if (variable === 'repo') return [...new Set(events.flatMap((type) => language.types[type]?.['repo']?.of ?? []))];
  const of = language.variables[variable]?.of;
  return of === null || of === undefined ? [] : [of];
}

/** What can be written behind the dot, or as the first word of an expression. */
export function wordsOf(language: Language, kinds: readonly string[], path: readonly string[]): Offer[] {
  const fields = path.length > 0 ? fieldsOf(language, kinds, path) : null;
  if (fields)
    return Object.entries(fields).map(([word, { type, optional, summary }]) => ({
      word,
      kind: 'field',
      detail: [type, optional ? 'perhaps' : '', summary].filter((part) => part !== '').join(' · '),
    }));
  if (path.length > 0) return [];
  return [
    ...['event', 'repo', 'vars', 'lookups', ...Object.keys(language.variables)].map((word) => ({
      word,
      kind: 'field' as const,
      detail: language.variables[word]?.type ?? '',
    })),
    ...Object.entries(language.functions).map(([word, { signature, summary }]) => ({
      word,
      kind: 'function' as const,
      detail: `${signature} · ${summary}`,
    })),
  ];
}

/** What a word means where it stands; null = nothing is known of it. */
export function meaningOf(
  language: Language,
  place: { path: readonly string[]; key: string | null },
  word: string,
  dotted: readonly string[],
  kinds: readonly string[],
  used: string | null,
): string | null {
  if (dotted.length > 1) {
    const field = fieldsOf(language, kinds, dotted.slice(0, -1))?.[word];
    if (field)
      return [`${dotted.join('.')}: ${field.type}${field.optional ? ' (perhaps)' : ''}`, field.summary].join('\n');
  }
  const called = language.functions[word];
  if (called) return `${called.signature}\n${called.summary}\n${called.example}`;
  const name = dotted.join('.');
  const kind = language.kinds[name];
  if (kind && place.key !== null) return kind.summary;
  const key = keysAt(language, place.path, used).find((offer) => offer.word === name || offer.word === word);
  return key && key.detail !== '' ? key.detail : null;
}

function unique(offers: readonly Offer[]): Offer[] {
  return [...new Map(offers.map((offer) => [offer.word, offer])).values()];
}
