import { textOf } from '../../../core/reason.js';
import type { Json, JsonObject } from '../../../core/json.js';
import { emptyTable } from '../../../core/table.js';
import { canonicalJson } from '../../../core/canonical-json.js';
import { MAX_OUTPUT, evaluateExpression, evaluateTemplate } from '../propose/evaluate-template.js';
import { Misfit } from '../propose/misfit.js';
import type { Bindings } from '../propose/bindings.js';
import { toJson } from '../values/to-json.js';
import type { YamlEntry, YamlNode } from '../load/node.js';
import type { ActionFacts, WrittenParam } from '../catalogue.js';
import { fullRefFault } from './check-named.js';
import type { FileContext } from './file-context.js';
import type { Expression, ParamProgram, StepProgram, Template } from './program.js';

/** Steps for what is worked out when the rules are loaded. */
const STEPS = 5_000;
/** Items of a constant list that are looked at. */
const MAX_ITEMS = 200;

/** What was written for an action: its parameters, and where each of them stands. */
export interface Written {
  readonly entries: readonly YamlEntry[];
  readonly start: number;
}

/**
 * Values that are the same each time are judged now, by the code that refuses them when it runs. That holds for constants, for
 * expressions over `vars` alone, and for the items of a constant list.
 */
export function checkStepConstants(context: FileContext, step: StepProgram, written: Written): void {
  const { action, params, forEach } = step;
  const items = forEach ? constantItems(context, forEach) : null;
  if (!forEach) {
    judge(context, action, params, written, undefined);
    return;
  }
  judge(context, action, params, written, null);
  if (!items) return;
  if (items.values.length > MAX_ITEMS) return;
  const keys = new Map<string, number>();
  for (const [index, item] of items.values.entries()) {
    judgeItem(context, step, items, index, item);
    const key = keyOf(context, step, item);
    if (key === null) continue;
    if (keys.has(key) && !step.when && !step.unless)
      context.file.warnAt(
        forEach.start,
        `two items of this list have the key ${key}: the run ends with an error`,
        'remove one, or distinguish them with key: "${{ … }}"',
      );
    keys.set(key, index);
  }
}

/** The parameters of a part of a policy. */
export function checkPartConstants(
  context: FileContext,
  action: ActionFacts,
  params: readonly ParamProgram[],
  written: Written,
): void {
  judge(context, action, params, written, undefined);
}

/** @param item undefined = there is none; null = it is not known */
function judge(
  context: FileContext,
  action: ActionFacts,
  params: readonly ParamProgram[],
  { entries, start }: Written,
  item: null | undefined,
): void {
  const { file, env } = context;
  const constants = emptyTable<WrittenParam>();
  let isWhole = true;
  for (const { name, template, position } of params) {
    const entry = entries.find(({ key }) => key === name);
    const constant = item === null && usesItem(template) ? null : constantOf(template, context);
    if (constant instanceof Misfit) {
      if (template.kind !== 'constant')
        file.newProblemAt(constant.position ?? position, `this fails each time: ${constant.message}`);
      isWhole = false;
    } else if (constant !== null) {
      constants[name] = { value: constant.value };
      const refusal =
        action.checkConstant?.(name, constant.value) ?? fullRefFault(constant.value, action.params[name]?.names);
      if (refusal !== null && template.kind === 'constant') isWhole = false;
      else if (refusal !== null) {
        file.newProblemAt(
          position,
          `${action.name}: ${name}: ${refusal}`,
          `it is ${inQuotes(constant.value)} each time`,
        );
        isWhole = false;
      }
      if (typeof constant.value === 'string' && Buffer.byteLength(constant.value) > MAX_OUTPUT && entry)
        file.newProblem(
          entry.value.start,
          `${name} has ${Buffer.byteLength(constant.value)} bytes; a parameter may have ${MAX_OUTPUT} (16 KB)`,
        );
    } else constants[name] = { prefix: prefixOf(template, context) };
  }
  // What was not compiled is told already, and may be what the others lack.
  if (!isWhole || entries.some(({ key }) => !Object.hasOwn(constants, key))) return;
  const unfit = action.unfit?.(constants, env);
  if (!unfit) return;
  const at = entries.find(({ key }) => key === unfit.param);
  const place = at ? (unfit.isValue ? at.value.start : at.keyStart) : start;
  const message = `${action.name}: ${textOf(unfit.reason)}`;
  if (unfit.isWarning) file.warn(place, message, unfit.hint);
  else file.newProblem(place, message, unfit.hint);
}

/** How many effects a step wants whatever happens: items of a list that is the same each time count, those of any other list do not. */
export function certainItems(context: FileContext, { when, unless, forEach, first }: StepProgram): number {
  if (when || unless) return 0;
  return forEach ? Math.min(constantItems(context, forEach)?.values.length ?? 0, first ?? Infinity) : 1;
}

interface Items {
  readonly values: readonly Json[];
  /** Where each stands, when the list is written under `vars`. */
  readonly nodes: readonly YamlNode[] | null;
}

function constantItems(context: FileContext, forEach: Expression): Items | null {
  if (!isConstant([forEach], false)) return null;
  try {
    const value = toJson(evaluateExpression(forEach, bindingsOf(context, {})));
    if (!Array.isArray(value)) return null;
    const node = nodeAt(context, forEach.compiled.source.trim().split('.'));
    return { values: value, nodes: node?.kind === 'list' ? node.items : null };
  } catch (error) {
    if (error instanceof Misfit) return null;
    throw error;
  }
}

/** One item of a list that is the same each time; told where the item is written. */
function judgeItem(
  context: FileContext,
  { action, params, when, unless }: StepProgram,
  { nodes }: Items,
  index: number,
  item: Json,
): void {
  const { file } = context;
  for (const { name, template, position } of params) {
    if (!usesItem(template)) continue;
    const constant = constantOf(template, context, item);
    if (constant === null) continue;
    const node = nodes?.[index];
    const place = node
      ? file.position(placeIn(node, template))
      : constant instanceof Misfit
        ? (constant.position ?? position)
        : position;
    const message =
      constant instanceof Misfit
        ? `item ${index + 1} fails: ${constant.message}`
        : (action.checkConstant?.(name, constant.value) ?? fullRefFault(constant.value, action.params[name]?.names));
    if (!message) continue;
    const text = `${action.name}: ${name}: ${message}`;
    // With a condition the item may never be reached.
    if (when || unless) file.warnAt(place, text);
    else file.newProblemAt(place, text);
  }
}

/** Of `${{ item.color }}`, where the item says it. */
function placeIn(node: YamlNode, template: Template): number {
  if (template.kind !== 'expression') return node.start;
  const [, ...fields] = template.expression.compiled.source.trim().split('.');
  let at = node;
  for (const field of fields) {
    const entry = at.kind === 'map' ? at.entries.find(({ key }) => key === field) : undefined;
    if (!entry) return node.start;
    at = entry.value;
  }
  return at.start;
}

function nodeAt({ varNodes }: FileContext, [root, ...fields]: readonly string[]): YamlNode | null {
  if (root !== 'vars' || !varNodes) return null;
  let at: YamlNode = varNodes;
  for (const field of fields) {
    const entry: YamlEntry | undefined = at.kind === 'map' ? at.entries.find(({ key }) => key === field) : undefined;
    if (!entry) return null;
    at = entry.value;
  }
  return at;
}

/** Parameters that are the key of an item when the step gives none. */
export function itemParams({ itemBy, naturalKey }: ActionFacts, params: readonly ParamProgram[]): ParamProgram[] {
  return params.filter(({ name }) => (itemBy ?? [naturalKey]).includes(name));
}

function keyOf(context: FileContext, { key, action, params }: StepProgram, item: Json): string | null {
  const templates = key ? [key] : itemParams(action, params).map(({ template }) => template);
  const values: string[] = [];
  for (const template of templates) {
    const constant = constantOf(template, context, item);
    if (!constant || constant instanceof Misfit) return null;
    values.push(
      typeof constant.value === 'string' ? `"${constant.value.slice(0, 60)}"` : canonicalJson(constant.value),
    );
  }
  return values.length === 0 ? null : values.join(' ');
}

/** What a template gives each time; a Misfit when it fails each time; null when only the run can tell. */
export function constantOf(template: Template, context: FileContext, item?: Json): { value: Json } | Misfit | null {
  if (template.kind === 'constant') return { value: template.value };
  const expressions = expressionsIn(template);
  if (expressions === null || !isConstant(expressions, item !== undefined)) return null;
  const bindings = bindingsOf(context, item === undefined ? {} : { item });
  try {
    const [at] = expressions;
    return { value: evaluateTemplate(template, bindings, bindings.all, { name: '', position: at?.start ?? NOWHERE }) };
  } catch (error) {
    if (error instanceof Misfit) return error;
    throw error;
  }
}

const NOWHERE = { file: '', line: 1, col: 1 };

function bindingsOf({ vars }: FileContext, more: JsonObject): Bindings {
  return { all: { vars, ...more }, budget: { remaining: STEPS } } as unknown as Bindings;
}

/** Null where a secret stands. */
function expressionsIn(template: Template): Expression[] | null {
  switch (template.kind) {
    case 'secret':
      return null;
    case 'expression':
      return [template.expression];
    case 'text':
      return template.parts.filter((part) => typeof part !== 'string');
    case 'list':
    case 'map': {
      const inner =
        template.kind === 'list'
          ? template.items.map(expressionsIn)
          : template.entries.map(([, one]) => expressionsIn(one));
      return inner.every((one) => one !== null) ? inner.flat() : null;
    }
    default:
      return [];
  }
}

/** It reads nothing but `vars` (and the item); `age` reads the clock without saying so. */
function isConstant(expressions: readonly Expression[], hasItem: boolean): boolean {
  return expressions.every(
    ({ compiled }) =>
      compiled.paths.every(({ segments: [root] }) => root === 'vars' || (hasItem && root === 'item')) &&
      !/\bage\s*\(/.test(compiled.source),
  );
}

export function usesItem(template: Template): boolean {
  return (expressionsIn(template) ?? []).some(({ compiled }) =>
    compiled.paths.some(({ segments: [root] }) => root === 'item'),
  );
}

/** The text that is certain to stand first. */
function prefixOf(template: Template, context: FileContext): string {
  if (template.kind !== 'text') return '';
  let prefix = '';
  for (const part of template.parts) {
    if (typeof part === 'string') prefix += part;
    else {
      const constant = constantOf({ kind: 'expression', expression: part }, context);
      if (!constant || constant instanceof Misfit || typeof constant.value !== 'string') return prefix;
      prefix += constant.value;
    }
  }
  return prefix;
}

function inQuotes(value: Json): string {
  return typeof value === 'string' ? `"${value.slice(0, 60)}"` : canonicalJson(value).slice(0, 60);
}
