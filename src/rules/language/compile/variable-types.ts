import { eventRepository } from '../../../core/objects/event-forms.js';
import { ruleType } from '../../../core/objects/rule-types.js';
import { DYN, ID, TEXT, TIME, listOf, ownObject, typeOfValue } from '../../../core/data-types.js';
import type { DataType } from '../../../core/data-types.js';
import type { StartKind } from '../../../core/event-kinds.js';
import { START_TYPES } from '../../../core/event-types.js';
import type { JsonObject } from '../../../core/json.js';
import type { Guards, VariableTypes } from '../expression-engine.js';
import type { YamlNode } from '../load/node.js';
import type { Expression } from './program.js';

/** Variables that are the same in every rule. */
export const OWN_VARIABLES = {
  org: ownObject('org', { name: [TEXT, 'the organization, as configured'] }),
  now: TIME,
  bot: ownObject('bot', {
    login: [TEXT, 'login of the bot’s account'],
    id: [ID, 'its number', 'optional'],
    hook_url: [TEXT, 'where the forge delivers to', 'optional'],
    needed_events: [listOf(TEXT), 'hook events that the rules need', 'optional'],
  }),
  config: ownObject('config', {
    revision: [TEXT, 'hash of the content of the revision that decides'],
    commit: [
      TEXT,
      'commit of the rule files, when they come from a repository or an unchanged git checkout',
      'optional',
    ],
  }),
  stats: ownObject('stats', {
    last_delivery_age: [{ kind: 'duration' }, 'time since the last delivery', 'optional'],
  }),
} satisfies VariableTypes;

export interface TypeScope {
  readonly variables: VariableTypes;
  readonly guards: Guards;
}

/** @param kinds empty for what runs on a schedule alone */
export function variableTypes(
  kinds: readonly StartKind[],
  vars: JsonObject,
  lookups: ReadonlyMap<string, DataType>,
  /** Names of those that may be missing. */
  missing: ReadonlySet<string> = new Set(),
): VariableTypes {
  const fields = [...lookups].map(([name, type]) => [name, { type, optional: missing.has(name) }] as const);
  return {
    ...OWN_VARIABLES,
    event: eventType(kinds),
    repo: ruleType(eventRepository),
    vars: typeOfValue(vars),
    lookups: { kind: 'object', name: 'lookups', fields: Object.fromEntries(fields) },
  };
}

function eventType(kinds: readonly StartKind[]): DataType {
  const of = kinds.flatMap((name) => {
    const type = START_TYPES.get(name)?.type;
    return type ? [{ name, type }] : [];
  });
  const [only] = of;
  return only ? (of.length === 1 ? only.type : { kind: 'either', of }) : DYN;
}

/** `item` is one element of what `for_each` gives. */
export function withItem(types: TypeScope | undefined, list: DataType | undefined): TypeScope | undefined {
  return types && list?.kind === 'list' ? { ...types, variables: { ...types.variables, item: list.of } } : types;
}

/** Where a condition holds (or does not): with what it asks for, and of the kinds for which it may. */
export function where(
  types: TypeScope | undefined,
  condition: Expression | null,
  holds: boolean,
): TypeScope | undefined {
  if (!types || !condition) return types;
  const { compiled, kinds } = condition;
  const own = holds ? guardsOfText(compiled.source) : NO_GUARDS;
  const { event } = types.variables;
  const possibleKinds = holds ? kinds?.ifTrue : kinds?.ifFalse;
  const of = event?.kind === 'either' ? event.of.filter(({ name }) => possibleKinds?.includes(name) ?? true) : [];
  const [only] = of;
  return {
    variables: only
      ? { ...types.variables, event: of.length === 1 ? only.type : { kind: 'either', of } }
      : types.variables,
    guards: {
      ...types.guards,
      paths: new Set([...types.guards.paths, ...own.paths]),
      notNull: new Set([...(types.guards.notNull ?? []), ...(own.notNull ?? [])]),
    },
  };
}

export const NO_GUARDS: Guards = { paths: new Set(), asksKind: false };

/** What the conditions of a rule ask for, read from their texts: a condition that is false outweighs one that fails. */
export function guardsIn(...nodes: ReadonlyArray<YamlNode | undefined>): Guards {
  return guardsOfText(...nodes.flatMap((node) => (node ? textsOf(node) : [])));
}

export function guardsOfText(...texts: readonly string[]): Guards {
  const paths = texts.flatMap((text) =>
    [...text.matchAll(/\bhas\(\s*([A-Za-z_][\w.]*)\s*\)/g)].map(([, path]) => path ?? ''),
  );
  const isAsked = texts.some((text) => /\bevent\.kind\b/.test(text) || /\bevent\s*[!=]=\s*null\b/.test(text));
  const notNull = texts.flatMap((text) =>
    [...text.matchAll(/\b([a-z]\w*(?:\.\w+)+)\s*[!=]=\s*null\b|\bnull\s*[!=]=\s*([a-z]\w*(?:\.\w+)+)/g)].map(
      ([, left, right]) => left ?? right ?? '',
    ),
  );
  return { paths: new Set(paths), notNull: new Set(notNull), asksKind: isAsked };
}

export function textsOf(node: YamlNode): string[] {
  if (node.kind === 'scalar') return typeof node.value === 'string' ? [node.value] : [];
  return (node.kind === 'list' ? node.items : node.entries.map(({ value }) => value)).flatMap(textsOf);
}
