import { START_TYPES } from '../../core/event-types.js';
import type { JsonObject } from '../../core/json.js';
import { LANGUAGE } from './language.js';
import type { KeyDefinition, MapName, ValueShape } from './language.js';
import { SEVERITIES } from './revision.js';
import type { ActionFacts, LookupFacts } from './revision.js';

export interface Catalogues {
  readonly actions: ReadonlyMap<string, ActionFacts>;
  readonly lookups: ReadonlyMap<string, LookupFacts>;
}

const TEXT: JsonObject = { type: 'string' };
const EXPRESSION: JsonObject = { type: 'string', minLength: 1 };
const SEVERITY: JsonObject = { description: 'How grave it is; medium when left out.', enum: [...SEVERITIES] };
const EXPECTATION: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['that'],
  properties: {
    that: { ...EXPRESSION, description: 'The condition that should hold.' },
    severity: SEVERITY,
    message: { ...TEXT, description: 'Message of the finding when it does not.' },
  },
};
/** A value that may be an expression instead. */
const TEMPLATE: JsonObject = { type: 'string', pattern: '\\$\\{\\{' };

/**
 * JSON Schema (draft 2020-12) of a rule file, for completion and hover in editors:
 * `# yaml-language-server: $schema=forgehand.schema.json`. Looser than the check: what only the check can know is any value here.
 */
export function ruleSchema(catalogues: Catalogues): JsonObject {
  const maps = (Object.keys(LANGUAGE) as MapName[]).filter((name) => name !== 'file' && name !== 'step');
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Forgehand rule file',
    ...mapSchema('file', catalogues),
    $defs: {
      ...Object.fromEntries(maps.map((name) => [name, mapSchema(name, catalogues)])),
      step: stepSchema(catalogues),
      fix: stepSchema(catalogues, { for: FOR }),
    },
  };
}

function mapSchema(name: MapName, catalogues: Catalogues): JsonObject {
  const keys = Object.entries(LANGUAGE[name]);
  const isLookup = name === 'lookup';
  return {
    type: 'object',
    additionalProperties: false,
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

function describe(definition: KeyDefinition, catalogues: Catalogues): JsonObject {
  return { description: definition.summary, ...valueSchema(definition.value, catalogues) };
}

function names({ summary }: KeyDefinition, known: ReadonlyMap<string, { name: string; summary: string }>): JsonObject {
  return {
    description: summary,
    oneOf: [...known.values()].map((one) => ({ const: one.name, description: `${one.summary}.` })),
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

const FOR: JsonObject = {
  description: 'Expectations after whose failure it is wanted.',
  anyOf: [TEXT, { type: 'array', minItems: 1, items: TEXT }],
};

function stepSchema(catalogues: Catalogues, more: JsonObject = {}): JsonObject {
  const { use, with: parameters, ...modifiers } = LANGUAGE.step;
  const shared = Object.fromEntries(
    Object.entries(modifiers).map(([key, definition]) => [key, describe(definition, catalogues)]),
  );
  const all = [...catalogues.actions.values()];
  const short = all.map((facts) => [facts.name, { description: `${facts.summary}.`, ...shortParams(facts) }] as const);
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...more,
      ...(use ? { use: names(use, catalogues.actions) } : {}),
      with: { description: parameters?.summary ?? '', type: 'object' },
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
  if (typeof shape === 'object') {
    if ('map' in shape) return { $ref: `#/$defs/${shape.map}` };
    if ('list' in shape) return { type: 'array', items: { $ref: `#/$defs/${shape.list}` } };
    if ('named' in shape)
      return {
        type: 'object',
        maxProperties: 20,
        additionalProperties: { anyOf: [{ $ref: '#/$defs/lookup' }, { enum: [...catalogues.lookups.keys()] }] },
      };
    if ('steps' in shape)
      return { anyOf: [{ $ref: '#/$defs/step' }, { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' } }] };
    if ('setting' in shape) {
      const map = paramsSchema(catalogues.actions.get(shape.setting)?.params ?? {});
      return shape.plain === undefined ? map : { anyOf: [map, { type: 'array', items: TEXT }] };
    }
    const items = paramsSchema(catalogues.actions.get(shape.settings)?.params ?? {});
    return { type: 'array', items: shape.short ? { anyOf: [TEXT, items] } : items };
  }
  switch (shape) {
    case 'boolean':
      return { type: 'boolean' };
    case 'whole':
      return { type: 'integer', minimum: 1 };
    case 'texts':
      return { anyOf: [TEXT, { type: 'array', minItems: 1, items: TEXT }] };
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
      const one: JsonObject = {
        oneOf: kinds.map(([kind, { summary }]) => ({ const: kind, description: `${summary}.` })),
      };
      return { anyOf: [one, { type: 'array', minItems: 1, items: one }] };
    }
    case 'approval':
      return { enum: ['owners', 'plan', 'two-people', true, false] };
    case 'required':
      return { enum: ['required', 'two-people', 'none'] };
    case 'rights':
      return { enum: ['author'] };
    case 'protections':
      return {
        type: 'array',
        items: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { ...TEXT, description: 'Name of the rule of the protection.' },
            severity: SEVERITY,
            enforce: { type: 'boolean', description: 'Write it where it differs; a difference is no finding then.' },
          },
        },
      };
    case 'fixes':
      return { anyOf: [{ $ref: '#/$defs/fix' }, { type: 'array', minItems: 1, items: { $ref: '#/$defs/fix' } }] };
    case 'expectations':
      return { type: 'object', maxProperties: 50, additionalProperties: { anyOf: [EXPRESSION, EXPECTATION] } };
    case 'mode':
      return { enum: ['live', 'dry-run', 'shadow'] };
    case 'sources': {
      const one: JsonObject = { enum: ['webhook', 'feed', 'tasks', 'lists'] };
      return { anyOf: [one, { type: 'array', minItems: 1, items: one }] };
    }
    case 'on_missing':
      return { enum: ['none', 'fail'] };
    case 'schedule':
      return { anyOf: [TEXT, { $ref: '#/$defs/schedule' }] };
    case 'catch_up':
      return { anyOf: [{ enum: ['skip', 'one', 'all'] }, { type: 'integer', minimum: 1, maximum: 50 }] };
    case 'version':
      return { const: 1 };
    case 'json':
    case 'any':
      return { type: 'object' };
    default:
      return TEXT;
  }
}
