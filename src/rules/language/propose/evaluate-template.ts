import { escapeChat } from '../../../core/escape-chat.js';
import { escapeMarkdown, escapeTitle, oneLine } from '../../../core/escape-markdown.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { Expression, ParamProgram, Template } from '../compile/program.js';
import { ExpressionError } from '../expression-engine.js';
import type { ExprValue } from '../expression-engine.js';
import { parseTime } from '../values/time.js';
import { toJson } from '../values/to-json.js';
import { unknownBelow } from '../expressions/unknown.js';
import type { Bindings } from './bindings.js';
import { Misfit } from './misfit.js';

/** Bytes of a text parameter. */
export const MAX_OUTPUT = 16 * 1024;

type Values = Readonly<Record<string, unknown>>;

/** @throws Misfit with the character in the file that is wrong */
export function evaluateExpression(
  expression: Expression,
  bindings: Bindings,
  values: Values = bindings.all,
): ExprValue {
  const value = evaluate(expression, bindings, values);
  // What a division by zero or `double("x")` gives: no number that anybody meant, and none that JSON can hold.
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Misfit(`${expression.compiled.source.trim()} is no finite number`, expression.start);
  return value;
}

function evaluate(expression: Expression, bindings: Bindings, values: Values): ExprValue {
  try {
    return expression.compiled.evaluate(values, bindings.budget);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new Misfit(
      error.hint ? `${error.message} (${error.hint})` : error.message,
      expression.positionOf(error.offset ?? 0),
      error.unknown,
    );
  }
}

/**
 * Parameters with their values. A secret stays a reference: `{ "$secret": NAME }`.
 * An optional parameter whose expression gives null is left out, as if it had not been written.
 */
export function evaluateParams(
  params: readonly ParamProgram[],
  bindings: Bindings,
  values: Values = bindings.all,
): JsonObject {
  const result: JsonObject = {};
  for (const param of params) {
    const value = evaluateParam(param, bindings, values);
    if (value !== null) result[param.name] = value;
    else if (param.required) throw new Misfit(`${param.name} is null, and it is required`, param.position);
  }
  return result;
}

function evaluateParam(param: ParamProgram, bindings: Bindings, values: Values): Json {
  const value = evaluateTemplate(param.template, bindings, values, param);
  const fitting = value === null || param.template.kind === 'secret' ? value : fit(value, param);
  if (typeof fitting === 'string' && Buffer.byteLength(fitting) > MAX_OUTPUT) {
    throw new Misfit(
      `${param.name} has ${Buffer.byteLength(fitting)} bytes; a parameter may have ${MAX_OUTPUT}`,
      param.position,
    );
  }
  return fitting;
}

/** A template with its values; nothing an expression gives is looked at again. */
export function evaluateTemplate(
  template: Template,
  bindings: Bindings,
  values: Values,
  at: Pick<ParamProgram, 'name' | 'position' | 'markdown' | 'line' | 'title' | 'chat'>,
): Json {
  switch (template.kind) {
    case 'constant':
      return template.value;
    case 'secret':
      return { $secret: template.name };
    case 'expression':
      return harmless(toJson(whole(template.expression, bindings, values)), template.expression, at);
    case 'text':
      return template.parts
        .map((part) =>
          typeof part === 'string'
            ? part
            : String(harmless(toText(evaluateExpression(part, bindings, values), part), part, at)),
        )
        .join('');
    case 'list':
      return template.items.map((item) => evaluateTemplate(item, bindings, values, at));
    case 'map':
      return Object.fromEntries(
        template.entries.map(([key, value]) => [key, evaluateTemplate(value, bindings, values, at)]),
      );
  }
}

/** A value that leaves the rule with all that is in it. */
function whole(expression: Expression, bindings: Bindings, values: Values): ExprValue {
  const value = evaluateExpression(expression, bindings, values);
  const path = unknownBelow(value);
  if (path !== null) throw new Misfit(`${path} is not known`, expression.start, [path]);
  return value;
}

/** Variables that the authors of rules and the operator fill. */
const OURS = new Set(['vars', 'org', 'now', 'bot', 'config']);

/** The forge makes these addresses, and nobody writes them. */
const FORGE_ADDRESS = /^https?:\/\/[\w.:~/#%?=&-]+$/;

/** In a Markdown or chat parameter, text that anybody could have written does nothing; in a title or one of a line it stays one line, and hides nothing. */
function harmless(
  value: Json,
  { compiled }: Expression,
  { markdown, line, title, chat }: Pick<ParamProgram, 'markdown' | 'line' | 'title' | 'chat'>,
): Json {
  const escape = markdown ? escapeMarkdown : chat ? escapeChat : title ? escapeTitle : line ? oneLine : null;
  if (escape === null || typeof value !== 'string' || (markdown && compiled.isMarkdown)) return value;
  if (compiled.paths.every(({ segments }) => OURS.has(String(segments[0])))) return value;
  const isForgeAddress = compiled.paths.every(({ segments }) => segments.at(-1) === 'html_url');
  return chat && isForgeAddress && FORGE_ADDRESS.test(value) ? value : escape(value);
}

/** Inside a text only what has one obvious spelling: an empty place where a value should be would be read as if it were meant. */
function toText(value: ExprValue, expression: Expression): string {
  const json = toJson(value);
  if (json === null) throw new Misfit(`${expression.compiled.source.trim()} is null and has no text`, expression.start);
  if (typeof json === 'object')
    throw new Misfit(
      `${expression.compiled.source.trim()} is ${Array.isArray(json) ? 'a list' : 'a map'} and has no text`,
      expression.start,
    );
  return String(json);
}

function fit(value: NonNullable<Json>, param: ParamProgram): Json {
  const fitted = FIT[param.type](value);
  if (fitted !== undefined) return fitted;
  throw new Misfit(`${param.name} must be ${WANTED[param.type]}, this is ${describe(value)}`, param.position);
}

/** What each type takes; undefined = it does not fit. */
const FIT: Readonly<Record<ParamProgram['type'], (value: NonNullable<Json>) => Json | undefined>> = {
  string: (value) => (typeof value === 'object' ? undefined : String(value)),
  // Ids are decimal texts inside the bot and numbers on the wire.
  integer: (value) => {
    if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))) return value;
    if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) return undefined;
    return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(value);
  },
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  // A day stays a day: what time of it is meant depends on what the parameter is for.
  time: (value) => (typeof value === 'string' && parseTime(value) ? value : undefined),
  strings: (value) => {
    const list = typeof value === 'string' ? [value] : value;
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
  },
  any: (value) => value,
};

const WANTED: Readonly<Record<ParamProgram['type'], string>> = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  time: 'a time',
  strings: 'a list of texts',
  any: 'a value',
};

function describe(value: NonNullable<Json>): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? `"${value.slice(0, 60)}"` : String(value);
}
