import { ownValue } from '../../../core/table.js';
import { describeType } from '../../../core/data-types.js';
import type { Json } from '../../../core/json.js';
import { describeNode, nodeToJson } from '../load/node.js';
import type { YamlEntry, YamlNode } from '../load/node.js';
import { didYouMean } from '../../../core/did-you-mean.js';
import { habitOf } from '../habits/habits.js';
import { isRefused, quoteHint, suggest } from '../load/read-shape.js';
import type { ActionFacts, ParamNames } from '../catalogue.js';
import { parseTime } from '../values/time.js';
import { slipIn } from './check-named.js';
import { looksLikeExpression } from './looks-like-expression.js';
import { staticType } from './compile-expression.js';
import { compileTemplate } from './compile-template.js';
import type { FileContext, Scope } from './file-context.js';
import type { ParamProgram, ParamType, Template } from './program.js';

interface ParamSpec {
  readonly type: ParamType;
  readonly required: boolean;
  readonly secret?: boolean;
  readonly sealed?: boolean;
  readonly markdown?: boolean;
  readonly line?: boolean;
  readonly title?: boolean;
  readonly chat?: boolean;
  readonly default?: Json;
  readonly example?: string;
  readonly check?: (value: string) => string | null;
  readonly names?: ParamNames;
}

export interface ParamsOf {
  /** For messages: `label.ensure`. */
  readonly name: string;
  readonly params: Readonly<Record<string, ParamSpec>>;
  readonly checkConstant?: ActionFacts['checkConstant'];
}

/**
 * Parameters of an action or a lookup against what it declares.
 * @param start where missing parameters are reported
 */
export function compileParams(
  context: FileContext,
  entries: readonly YamlEntry[],
  start: number,
  target: ParamsOf,
  scope: Scope,
): ParamProgram[] {
  const names = Object.keys(target.params);
  const programs: ParamProgram[] = [];
  const namesInRule = new Set(entries.map(({ key }) => key));
  for (const entry of entries) {
    const spec = target.params[entry.key];
    if (!spec || !names.includes(entry.key)) {
      context.file.problem(
        entry.keyStart,
        `${target.name} has no parameter "${entry.key}"`,
        paramHint(entry.key, names),
      );
      const suggestion = paramHabit(entry.key, names) ?? didYouMean(entry.key, names);
      if (suggestion !== null) namesInRule.add(/^\w+/.exec(suggestion)?.[0] ?? '');
      continue;
    }
    const template = compileParam(context, entry, spec, target, scope);
    if (template)
      programs.push({
        name: entry.key,
        type: spec.type,
        required: spec.required,
        template,
        position: context.file.position(entry.value.start),
        ...(spec.markdown ? { markdown: true } : {}),
        ...(spec.line ? { line: true } : {}),
        ...(spec.title ? { title: true } : {}),
        ...(spec.chat ? { chat: true } : {}),
      });
  }
  const missing = Object.entries(target.params).filter(
    ([name, spec]) => spec.required && spec.default === undefined && !namesInRule.has(name),
  );
  for (const [name] of missing) context.file.problem(start, `${target.name} needs the parameter "${name}"`);
  return [...programs, ...defaults(context, namesInRule, start, target)];
}

/** Of the words that mean something elsewhere, those count that this target has. */
function paramHabit(name: string, names: readonly string[]): string | null {
  const habit = habitOf('param', name);
  return habit !== null && names.includes(/^\w+/.exec(habit)?.[0] ?? '') ? habit : null;
}

function paramHint(name: string, names: readonly string[]): string | undefined {
  const habit = paramHabit(name, names);
  const near = didYouMean(name, names);
  return habit === null || (near !== null && habit.startsWith(near))
    ? suggest(name, names, 'it has')
    : `write ${habit}`;
}

function defaults(
  context: FileContext,
  namesInRule: ReadonlySet<string>,
  start: number,
  target: ParamsOf,
): ParamProgram[] {
  const position = context.file.position(start);
  return Object.entries(target.params).flatMap(([name, { type, required, default: value }]) =>
    value === undefined || namesInRule.has(name)
      ? []
      : [{ name, type, required, template: { kind: 'constant', value } as const, position }],
  );
}

function compileParam(
  context: FileContext,
  { key, value: node }: YamlEntry,
  spec: ParamSpec,
  target: ParamsOf,
  scope: Scope,
): Template | null {
  if (isRefused(node)) return null;
  const template = compileTemplate(context, node, scope);
  if (!template) return null;
  const what = `${target.name}: ${key}`;
  if (spec.secret || template.kind === 'secret') return checkSecret(context, node, template, spec, what);
  // A number of the forge is a text to us, and may be written without quotes.
  const isNumber =
    template.kind === 'constant' &&
    typeof template.value === 'number' &&
    spec.type === 'string' &&
    (target.checkConstant ? target.checkConstant(key, template.value) === null : isForgeNumber(template.value, spec));
  const message = isNumber ? null : checkShape(template, node, spec.type, what);
  const lookalike = expressionMeant(node);
  if (message !== null && spec.type === 'time' && template.kind === 'constant' && typeof template.value === 'string') {
    context.file.newProblem(node.start, message, lookalike?.hint ?? shapeHint(context, node, template, spec));
    return template;
  }
  if (message !== null) {
    context.file.problem(node.start, message, lookalike?.hint ?? shapeHint(context, node, template, spec));
    return null;
  }
  if ((spec.line || spec.title || spec.chat) && givesMarkdown(template))
    context.file.warn(node.start, `${what} is one line, and md_list and md_table give lines of Markdown`);
  const names = spec.names ?? (spec.type === 'integer' ? 'number' : undefined);
  const slip = names === undefined ? null : slipIn(template, names);
  if (template.kind === 'constant' && typeof template.value === 'number' && isNoForgeNumber(template.value, spec))
    context.file.newProblem(node.start, `${what}: must be a positive whole number`);
  if (slip) {
    const place = slip.at?.start ?? context.file.position(node.start);
    context.file.newProblemAt(place, `${what}: ${slip.message}`, slip.hint);
    return template;
  }
  if (template.kind === 'constant') {
    const refusal = target.checkConstant?.(key, template.value) ?? null;
    if (refusal !== null) {
      context.file.problem(node.start, `${what}: ${refusal}`, lookalike?.hint);
      // The rest of the rule is looked at as it stands.
      return template;
    }
    const isFree = [spec.markdown, spec.line, spec.title, spec.chat, spec.sealed].includes(true);
    if (
      lookalike &&
      !lookalike.isWhole &&
      (isFree || (typeof template.value === 'string' && template.value.includes('\n')))
    )
      context.file.warn(
        lookalike.start,
        `${what} is written as it stands: ${lookalike.what} is no expression`,
        lookalike.hint,
      );
    else if (lookalike)
      context.file.newProblem(lookalike.start, `${what}: ${lookalike.what} is no expression here`, lookalike.hint);
    else checkWord(context, node, template.value, spec, what);
  }
  return template;
}

function isForgeNumber(value: number, { names }: ParamSpec): boolean {
  return names === 'number' && Number.isInteger(value);
}

function isNoForgeNumber(value: number, { names }: ParamSpec): boolean {
  return names === 'number' && value < 1;
}

/** A text, or one of a list, that was meant to be worked out. */
function expressionMeant(node: YamlNode): { start: number; what: string; hint: string; isWhole: boolean } | null {
  const texts = node.kind === 'list' ? node.items : [node];
  for (const one of texts) {
    const lookalike = one.kind === 'scalar' && typeof one.value === 'string' ? looksLikeExpression(one.value) : null;
    if (lookalike)
      return {
        start: one.start,
        what: lookalike.what,
        hint: `write ${lookalike.write}`,
        isWhole: lookalike.isWhole === true,
      };
  }
  return null;
}

function givesMarkdown(template: Template): boolean {
  if (template.kind === 'text')
    return template.parts.some((part) => typeof part !== 'string' && part.compiled.isMarkdown);
  return template.kind === 'expression' && template.expression.compiled.isMarkdown;
}

/** What a lookup's parameter can never be. */
function checkWord({ file }: FileContext, node: YamlNode, value: Json, { check }: ParamSpec, what: string): void {
  for (const one of [value].flat()) {
    const reason = typeof one === 'string' ? (check?.(one) ?? null) : null;
    if (reason !== null) file.newProblem(node.start, `${what}: ${reason}`);
  }
}

function shapeHint(
  { file }: FileContext,
  node: YamlNode,
  template: Template,
  { type, example, markdown }: ParamSpec,
): string | undefined {
  if (type === 'time') return 'a day is written YYYY-MM-DD';
  if (type === 'strings' && template.kind === 'expression')
    return 'a list of names: ….map(x, x.name), of accounts ….map(x, x.login)';
  if (type !== 'string') return undefined;
  if (template.kind === 'constant' && typeof template.value === 'number' && example !== undefined)
    return `such as ${example}`;
  if (template.kind === 'constant') return quoteHint(file, node);
  return template.kind === 'expression' && staticType(template.expression) === 'list'
    ? `to write a list into a text: ${markdown ? 'md_list(…)' : '….join(", ")'}`
    : undefined;
}

/** Secrets are references from here on; a value written into a rule file could be read by everybody who reads the file. */
function checkSecret(
  context: FileContext,
  node: YamlNode,
  template: Template,
  spec: ParamSpec,
  what: string,
): Template | null {
  const { file, secrets, env } = context;
  if (!spec.secret) {
    file.problem(node.start, `${what} is no secret parameter: a secret would be visible there`);
    return null;
  }
  // Told already where the constant is written.
  const isOfVars =
    template.kind === 'expression' &&
    template.expression.compiled.paths.some(
      ({ segments: [root, name] }) =>
        root === 'vars' && /\$\{\{\s*secrets\./.test(String(ownValue(context.vars, name ?? ''))),
    );
  if (isOfVars) return null;
  if (template.kind !== 'secret') {
    file.problem(
      node.start,
      `${what} takes a secret, never its value`,
      `"\${{ secrets.${[...secrets][0] ?? 'NAME'} }}", with the name listed under secrets`,
    );
    return null;
  }
  if (!secrets.has(template.name))
    file.problem(
      node.start,
      `the file does not list the secret "${template.name}"`,
      suggest(template.name, [...secrets], 'it lists') ?? `secrets: [${template.name}]`,
    );
  else if (!env.secrets.has(template.name)) return template; // Reported once, where the file lists it.
  return template;
}

/** @returns why a template can never give a value of the type, as far as that can be told now */
function checkShape(template: Template, node: YamlNode, type: ParamType, what: string): string | null {
  if (type === 'any')
    return containsSecret(template) ? `${what}: a secret stands alone, in a parameter that is marked secret` : null;
  if (type === 'strings') return checkStrings(template, node, what);
  const misfit = (): string => `${what} must be ${WANTED[type]}, this is ${describeNode(node)}`;
  switch (template.kind) {
    case 'constant':
      return fitsConstant(template.value, type) ? null : misfit();
    case 'text':
      return type === 'string' || type === 'time' ? null : `${what} must be ${WANTED[type]}, this is a text`;
    case 'expression': {
      const seen = staticType(template.expression);
      return seen === 'dyn' || FITTING[type].includes(seen)
        ? null
        : `${what} must be ${WANTED[type]}, the expression gives ${seen}`;
    }
    default:
      return misfit();
  }
}

function checkStrings(template: Template, node: YamlNode, what: string): string | null {
  if (template.kind === 'expression') {
    const { type } = template.expression;
    const isList =
      !type ||
      type.kind === 'dyn' ||
      type.kind === 'string' ||
      (type.kind === 'list' && ['dyn', 'string'].includes(type.of.kind));
    return isList ? null : `${what} must be a list of texts, the expression gives ${describeType(type)}`;
  }
  const value = nodeToJson(node);
  const isTexts =
    typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
  return isTexts && !containsSecret(template) ? null : `${what} must be a list of texts, this is ${describeNode(node)}`;
}

function containsSecret(template: Template): boolean {
  if (template.kind === 'list') return template.items.some(containsSecret);
  return template.kind === 'map'
    ? template.entries.some(([, value]) => containsSecret(value))
    : template.kind === 'secret';
}

type ScalarType = Exclude<ParamType, 'any' | 'strings'>;

const WANTED: Readonly<Record<ScalarType, string>> = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  time: 'a time (2026-12-31 or 2026-12-31T18:00:00Z)',
};

/** Static types that each parameter takes; a text may take all that has one obvious spelling. */
const FITTING: Readonly<Record<ScalarType, readonly string[]>> = {
  string: ['string', 'int', 'uint', 'double', 'bool', 'timestamp', 'null'],
  integer: ['int', 'uint', 'string', 'null'],
  boolean: ['bool', 'null'],
  time: ['timestamp', 'string', 'null'],
};

function fitsConstant(value: Json, type: ScalarType): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'integer':
      return (
        typeof value === 'bigint' ||
        (typeof value === 'number' && Number.isInteger(value)) ||
        (typeof value === 'string' && /^\d+$/.test(value))
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'time':
      return typeof value === 'string' && parseTime(value) !== null;
  }
}
