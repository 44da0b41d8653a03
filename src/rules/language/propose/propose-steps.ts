import type { Json, JsonObject } from '../../../core/json.js';
import { stringifyJson } from '../../../core/json.js';
import type { Expression, RuleProgram, StepProgram } from '../compile/program.js';
import { lookupsOfParams, lookupsOfTemplate } from '../compile/compile-lookup.js';
import { MAX_LIST } from '../expressions/meter.js';
import type { Limits, ProposedItem, ProposedStep } from '../revision.js';
import type { ActionFacts } from '../catalogue.js';
import { traceStep } from '../trace/trace.js';
import type { DecidedItems, StepHeld } from '../trace/trace.js';
import { toJson } from '../values/to-json.js';
import type { Bindings } from './bindings.js';
import { evaluateExpression, evaluateParams, evaluateTemplate } from './evaluate-template.js';
import type { Lookups } from './lookups.js';
import { Misfit } from './misfit.js';

export interface Proposal {
  steps: ProposedStep[];
  trace: JsonObject[];
}

/**
 * What the steps of a rule want, all of it or nothing.
 * @throws NeedsLookup, Misfit
 */
export function proposeSteps(
  program: Pick<RuleProgram, 'steps'>,
  limits: Limits | null,
  bindings: Bindings,
  lookups: Lookups,
): Proposal {
  const proposal: Proposal = { steps: [], trace: [] };
  for (const step of program.steps) {
    const { items, outcome, blocker, each } = proposeStep(step, bindings, lookups);
    const keys = items.map(({ itemKey }) => itemKey);
    if (bindings.isTraced) proposal.trace.push(traceStep(step, { outcome, items: keys, blocker, each }, bindings));
    if (items.length > 0)
      proposal.steps.push({
        stepId: step.id,
        stepNo: step.no,
        action: step.action.name,
        items,
        ...(step.approval ? { approval: step.approval } : {}),
      });
  }
  const wanted = countItems(proposal.steps);
  if (limits && wanted > limits.effectsPerRun)
    throw new Misfit(`over its limit: wants ${wanted} effects, limits.effects_per_run is ${limits.effectsPerRun}`);
  return proposal;
}

export function countItems(steps: readonly ProposedStep[]): number {
  return steps.reduce((sum, { items }) => sum + items.length, 0);
}

interface StepProposal {
  readonly items: ProposedItem[];
  readonly outcome: string;
  /** Why it wants nothing; of a step with `for_each`, why the first item that was left out was. */
  readonly blocker: StepHeld | null;
  /** How its conditions decided about the items, where they look at each; absent = they decided about the step. */
  readonly each?: DecidedItems;
}

function proposeStep(step: StepProgram, bindings: Bindings, lookups: Lookups): StepProposal {
  // A condition that does not look at the item holds for the step as a whole, before its list is even made.
  const once = !step.forEach || [step.when, step.unless].every((expression) => !expression || !readsItem(expression));
  const blocker = once ? whyNot(step, bindings, lookups, bindings.all) : null;
  if (blocker) return { items: [], outcome: blocker.why === 'when' ? 'when is false' : 'unless is true', blocker };
  if (!step.forEach)
    return { items: [proposeItem(step, bindings, lookups, bindings.all)], outcome: 'wanted', blocker: null };
  const items = new Map<string, ProposedItem>();
  const leftOut: StepHeld[] = [];
  let later = 0;
  const list = listOf(step, step.forEach, bindings, lookups);
  for (const element of list) {
    const values = bindings.with(element);
    const why = once ? null : whyNot(step, bindings, lookups, values);
    if (why) leftOut.push({ ...why, item: { raw: element, values } });
    else if (step.first !== null && items.size >= step.first) later += 1;
    else addItem(items, proposeItem(step, bindings, lookups, values), step);
  }
  const whenFalse = leftOut.filter(({ why }) => why === 'when').length;
  const each = {
    wanted: items.size,
    when_false: whenFalse,
    unless_true: leftOut.length - whenFalse,
  };
  const parts = [
    'wanted',
    ...(leftOut.length > 0 ? [`${leftOut.length} ${leftOut.length === 1 ? 'item' : 'items'} skipped`] : []),
    ...(later > 0 ? [`${later} left for later runs (first: ${step.first})`] : []),
  ];
  if (leftOut.length > 0)
    return { items: [...items.values()], outcome: parts.join(', '), blocker: leftOut[0] ?? null, each };
  const isEmpty = items.size === 0;
  return {
    items: [...items.values()],
    outcome: isEmpty ? 'for_each is empty' : parts.join(', '),
    blocker: isEmpty ? { why: 'for_each', expression: step.forEach } : null,
    ...(once ? {} : { each }),
  };
}

/** @returns why the step is left out; null when it is wanted */
function whyNot(
  step: StepProgram,
  bindings: Bindings,
  lookups: Lookups,
  values: Readonly<Record<string, unknown>>,
): StepHeld | null {
  if (step.when && !isTrue(step.when, bindings, lookups, values)) return { why: 'when', expression: step.when };
  return step.unless && isTrue(step.unless, bindings, lookups, values)
    ? { why: 'unless', expression: step.unless }
    : null;
}

function isTrue(
  expression: Expression,
  bindings: Bindings,
  lookups: Lookups,
  values: Readonly<Record<string, unknown>>,
): boolean {
  lookups.require(expression.lookups, bindings);
  const value = evaluateExpression(expression, bindings, values);
  if (typeof value !== 'boolean')
    throw new Misfit('a condition must be true or false, and this is neither', expression.start);
  return value;
}

function listOf(step: StepProgram, forEach: Expression, bindings: Bindings, lookups: Lookups): unknown[] {
  lookups.require(forEach.lookups, bindings);
  const list = evaluateExpression(forEach, bindings);
  if (!Array.isArray(list))
    throw new Misfit(`for_each walks a list, this is ${list === null ? 'null' : 'none'}`, forEach.start);
  if (list.length > MAX_LIST)
    throw new Misfit(`for_each of ${step.id} has ${list.length} items; ${MAX_LIST} are allowed`, forEach.start);
  return list.map(toJson);
}

function proposeItem(
  step: StepProgram,
  bindings: Bindings,
  lookups: Lookups,
  values: Readonly<Record<string, unknown>>,
): ProposedItem {
  lookups.require(lookupsOfParams(step.params), bindings);
  const params = evaluateParams(step.params, bindings, values);
  return { itemKey: itemKeyOf(step, params, bindings, lookups, values), params };
}

/** The natural key of the object an item is about, never its position: a list in another order is the same work. */
function itemKeyOf(
  step: StepProgram,
  params: JsonObject,
  bindings: Bindings,
  lookups: Lookups,
  values: Readonly<Record<string, unknown>>,
): string {
  if (!step.key) return defaultItemKey(step.action, params);
  lookups.require(new Set(lookupsOfTemplate(step.key)), bindings);
  const key = evaluateTemplate(step.key, bindings, values, { name: 'key', position: step.position });
  if (key === null || key === '')
    throw new Misfit('key is empty, so the bot cannot distinguish the items', step.position);
  return keyText(key);
}

/** The key of an item to which the rule gives none. */
export function defaultItemKey({ itemBy, naturalKey }: ActionFacts, params: JsonObject): string {
  return (itemBy ?? [naturalKey])
    .map((name) => keyText(params[name]))
    .filter((text) => text !== '')
    .join(' ');
}

function keyText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : stringifyJson(value);
}

function addItem(items: Map<string, ProposedItem>, item: ProposedItem, step: StepProgram): void {
  if (items.has(item.itemKey)) {
    const fix = step.key
      ? 'give each item its own key'
      : 'remove duplicates from the list, or give each item its own key';
    throw new Misfit(`two items of ${step.id} have the key "${item.itemKey.slice(0, 80)}": ${fix}`, step.position);
  }
  items.set(item.itemKey, item);
}

function readsItem({ compiled }: Expression): boolean {
  return compiled.paths.some(({ segments }) => segments[0] === 'item');
}
