import { START_TYPES } from '../../core/event-types.js';
import type { JsonObject } from '../../core/json.js';
import { GRAMMAR, MAPS, summaryOf } from './grammar.js';
import { ID } from './load/read-map.js';
import type { ActionFacts, LookupFacts } from './catalogue.js';
import type { KeyShape, MapName, ValueShape } from './shapes.js';

export interface Catalogues {
  readonly actions: ReadonlyMap<string, ActionFacts>;
  readonly lookups: ReadonlyMap<string, LookupFacts>;
  /** Names of the built-in sets, for completion: `extends` takes files of the operator too. */
  readonly sets: readonly string[];
}

const TEXT: JsonObject = { type: 'string' };
const EXPRESSION: JsonObject = { type: 'string', minLength: 1 };
/** A value that may be an expression instead. */
const TEMPLATE: JsonObject = { type: 'string', pattern: '\\$\\{\\{' };

/**
 * JSON Schema (draft-07, which every editor knows) of a rule file, for completion and hover in editors:
 * `# yaml-language-server: $schema=forgehand.schema.json`. Looser than the check: what only the check can know is any value here.
 */
export function ruleSchema(catalogues: Catalogues): JsonObject {
  const maps = (Object.keys(MAPS) as MapName[]).filter((name) => !OWN_SCHEMA.includes(name));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://json.schemastore.org/forgehand-rules.json',
    title: 'Forgehand rule file',
    ...fileSchema(catalogues),
    definitions: {
      ...Object.fromEntries(maps.map((name) => [name, mapSchema(name, catalogues)])),
      step: stepSchema('step', catalogues),
      fix: stepSchema('fix', catalogues),
    },
  };
}

function fileSchema(catalogues: Catalogues): JsonObject {
  const { properties, ...more } = mapSchema('file', catalogues);
  const sets = {
    description: summaryOf(GRAMMAR.file.keys.extends),
    ...oneOrList({ anyOf: [{ enum: [...catalogues.sets] }, TEXT] }),
  };
  return { ...more, properties: { ...(properties as JsonObject), extends: sets } };
}

/** The whole file, what other files extend, and steps, whose keys are actions too. */
const OWN_SCHEMA: readonly MapName[] = ['file', 'shared_file', 'step', 'fix'];

function mapSchema(name: MapName, catalogues: Catalogues): JsonObject {
  const { keys: shapes, isOpen = false } = MAPS[name];
  const keys = Object.entries(shapes);
  const isLookup = name === 'lookup';
  return {
    type: 'object',
    additionalProperties: isOpen,
    required: keys.filter(([, { required }]) => required).map(([key]) => key),
    properties: Object.fromEntries(
      keys.map(([key, definition]) => [
        key,
        isLookup && key === 'use' ? names(definition, catalogues.lookups) : describe(definition, catalogues),
      ]),
    ),
    ...(isLookup ? { allOf: [...catalogues.lookups.values()].map((facts) => whenUsed(facts)) } : {}),
  };
}

function describe(key: KeyShape, catalogues: Catalogues): JsonObject {
  const { default: otherwise } = key;
  return {
    description: summaryOf(key),
    ...(otherwise === undefined ? {} : { default: otherwise }),
    ...valueSchema(key.value, catalogues),
  };
}

function names(key: KeyShape, choices: ReadonlyMap<string, { name: string; summary: string }>): JsonObject {
  return {
    description: summaryOf(key),
    oneOf: [...choices.values()].map((one) => ({ const: one.name, description: `${one.summary}.` })),
  };
}

/** `use` says which parameters `with` has. */
function whenUsed({ name, params }: Pick<LookupFacts | ActionFacts, 'name' | 'params'>): JsonObject {
  return {
    if: { properties: { use: { const: name } }, required: ['use'] },
    then: { properties: { with: paramsSchema(params) } },
  };
}

function paramsSchema(params: LookupFacts['params'] | ActionFacts['params']): JsonObject {
  const required = Object.entries(params).filter(
    ([, param]) => param.required && !('default' in param && param.default !== undefined),
  );
  return {
    type: 'object',
    additionalProperties: false,
    required: required.map(([name]) => name),
    properties: Object.fromEntries(
      Object.entries(params).map(([name, { summary, type }]) => [
        name,
        { description: `${summary}.`, ...paramValue(type) },
      ]),
    ),
  };
}

function paramValue(type: string): JsonObject {
  switch (type) {
    case 'integer':
      return { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^\\d+$' }, TEMPLATE] };
    case 'boolean':
      return { anyOf: [{ type: 'boolean' }, TEMPLATE] };
    case 'strings':
      return { anyOf: [{ type: 'array', items: TEXT }, TEXT] };
    case 'any':
      return {};
    default:
      return TEXT;
  }
}

function stepSchema(name: 'step' | 'fix', catalogues: Catalogues): JsonObject {
  const { use, with: parameters, ...modifiers } = GRAMMAR[name].keys;
  const shared = Object.fromEntries(
    Object.entries(modifiers).map(([key, definition]) => [key, describe(definition, catalogues)]),
  );
  const all = [...catalogues.actions.values()];
  const short = all.map((facts) => [facts.name, { description: `${facts.summary}.`, ...shortParams(facts) }] as const);
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      use: names(use, catalogues.actions),
      with: describe(parameters, catalogues),
      ...shared,
      ...Object.fromEntries(short),
    },
    oneOf: [{ required: ['use'] }, ...all.map(({ name }) => ({ required: [name] }))],
    allOf: all.map((facts) => whenUsed(facts)),
  };
}

/** An action without required parameters may stand with nothing behind it. */
function shortParams({ params }: ActionFacts): JsonObject {
  const schema = paramsSchema(params);
  return Array.isArray(schema.required) && schema.required.length === 0
    ? { ...schema, type: ['object', 'null'] }
    : schema;
}

function valueSchema(shape: ValueShape, catalogues: Catalogues): JsonObject {
  if (typeof shape === 'string') return plainSchema(shape);
  if ('whole' in shape) return { type: 'integer', minimum: shape.whole[0], maximum: shape.whole[1] };
  if ('choice' in shape) return { enum: [...shape.choice] };
  if ('choices' in shape) return oneOrList({ enum: [...shape.choices] });
  if ('duration' in shape) return TEXT;
  if ('map' in shape)
    return shape.short === undefined ? refTo(shape.map) : { anyOf: [shortSchema(shape, catalogues), refTo(shape.map)] };
  if ('list' in shape) return { type: 'array', items: refTo(shape.list) };
  if ('steps' in shape) return oneOrList(refTo(shape.steps));
  if ('named' in shape)
    return {
      type: 'object',
      maxProperties: shape.most,
      additionalProperties: {
        anyOf: [
          shape.named === 'lookup'
            ? { enum: [...catalogues.lookups.keys()] }
            : shortSchema({ map: shape.named, short: shape.short }, catalogues),
          refTo(shape.named),
        ],
      },
    };
  const { action, short, single } = shape.section;
  const item = paramsSchema(catalogues.actions.get(action)?.params ?? {});
  if (single) return single.list === undefined ? item : { anyOf: [item, { type: 'array', items: TEXT }] };
  return { type: 'array', items: short === undefined ? item : { anyOf: [TEXT, item] } };
}

function refTo(name: MapName): JsonObject {
  return { $ref: `#/definitions/${name}` };
}

function oneOrList(one: JsonObject): JsonObject {
  return { anyOf: [one, { type: 'array', minItems: 1, items: one }] };
}

function shortSchema({ map, short = '' }: { map: MapName; short?: string }, catalogues: Catalogues): JsonObject {
  return valueSchema(MAPS[map].keys[short]?.value ?? 'text', catalogues);
}

function plainSchema(shape: Extract<ValueShape, string>): JsonObject {
  switch (shape) {
    case 'text':
    case 'canary':
    case 'reason':
      return TEXT;
    case 'id':
      return { type: 'string', pattern: ID.source };
    case 'texts':
      return oneOrList(TEXT);
    case 'boolean':
      return { type: 'boolean' };
    case 'expression':
      return EXPRESSION;
    case 'conditions':
      return {
        anyOf: [
          EXPRESSION,
          { type: 'array', minItems: 1, items: EXPRESSION },
          { type: 'object', minProperties: 1, additionalProperties: EXPRESSION },
        ],
      };
    case 'kinds': {
      const kinds = [...START_TYPES].filter(([kind]) => kind !== 'hook.tested' && kind !== 'unrecognized');
      return oneOrList({ oneOf: kinds.map(([kind, { summary }]) => ({ const: kind, description: `${summary}.` })) });
    }
    case 'approval':
      return { enum: ['owners', 'plan', 'two-people', true, false] };
    case 'catch_up':
      return { anyOf: [{ enum: ['skip', 'one', 'all'] }, { type: 'integer', minimum: 1, maximum: 50 }] };
    case 'version':
      return { const: 1 };
    case 'json':
    case 'params':
      return { type: 'object' };
  }
}
