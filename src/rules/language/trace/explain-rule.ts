import type { JsonObject } from '../../../core/json.js';
import type { ConditionProgram } from '../compile/program.js';
import type { ExpressionEngine, ExprPath } from '../expression-engine.js';
import { Bindings } from '../propose/bindings.js';
import { evaluateCondition } from '../propose/evaluate-rule.js';
import type { EvaluationInput } from '../propose/input.js';
import { Lookups, NeedsLookup } from '../propose/lookups.js';
import { Misfit, formatPosition } from '../propose/misfit.js';
import { proposeSteps } from '../propose/propose-steps.js';
import type { CompiledRule } from '../revision.js';
import { explainExpression, hasMoreToTell } from './explain-expression.js';
import { seenValues } from './seen-values.js';
import { sidesOf, traceFailure, traceHead, traceParts } from './trace.js';

/** A decision made again to explain it: every condition is looked at, and what is not known stays so. */
export interface RuleExplanation {
  /** `unknown` = it depends on reads whose answers nobody kept, or on who the bot is. */
  readonly verdict: 'fired' | 'not-fired' | 'error' | 'unknown';
  /** Like the trace of a report; a condition that depends on something unknown says on what, under `unknown`. */
  readonly trace: JsonObject;
  /** Parts of conditions that would have to be otherwise; an error counts as one. */
  readonly away: number;
  /** Conditions, or the steps, that cannot be told. */
  readonly unknown: number;
  /** Effects it wants, when it fires. */
  readonly effects: number;
  /** Why the steps cannot be told or gave an error, with the place. */
  readonly problem: string | null;
}

type Outcome = Pick<RuleExplanation, 'verdict' | 'away' | 'trace'>;

/**
 * Look at every condition of a rule, whatever the others say, with the answers that are there. Pure.
 * A false part of `&&` decides also where the rest is unknown; nothing else is concluded from what is unknown.
 */
export function explainRule(rule: CompiledRule, input: EvaluationInput, engine: ExpressionEngine): RuleExplanation {
  const bindings = new Bindings(input, rule.program, engine);
  const lookups = new Lookups(rule.program, input.lookups);
  const outcomes = rule.program.conditions.map((condition) => explainCondition(condition, input, bindings, lookups));
  const count = (verdict: Outcome['verdict']): number =>
    outcomes.filter((outcome) => outcome.verdict === verdict).length;
  const trace = (steps: JsonObject[], more: JsonObject = {}): JsonObject => ({
    at: formatPosition(rule.position),
    conditions: outcomes.map((outcome) => outcome.trace),
    steps,
    ...more,
  });
  const away = outcomes.reduce((total, outcome) => total + outcome.away, 0);
  const verdict =
    count('not-fired') > 0 ? 'not-fired' : count('error') > 0 ? 'error' : count('unknown') > 0 ? 'unknown' : 'fired';
  if (verdict !== 'fired')
    return { verdict, trace: trace([]), away, unknown: count('unknown'), effects: 0, problem: null };
  try {
    const proposal = proposeSteps(rule.program, rule.limits, bindings, lookups);
    const effects = proposal.steps.reduce((total, { items }) => total + items.length, 0);
    return { verdict, trace: trace(proposal.trace), away, unknown: 0, effects, problem: null };
  } catch (error) {
    if (error instanceof NeedsLookup)
      return {
        verdict: 'unknown',
        trace: trace([]),
        away,
        unknown: 1,
        effects: 0,
        problem: notKnown(error.request.as),
      };
    if (!(error instanceof Misfit)) throw error;
    const problem = error.position ? `${error.message} (${formatPosition(error.position)})` : error.message;
    return {
      verdict: 'error',
      trace: trace([], { failed: traceFailure(error) }),
      away: away + 1,
      unknown: 0,
      effects: 0,
      problem,
    };
  }
}

function explainCondition(
  condition: ConditionProgram,
  input: EvaluationInput,
  bindings: Bindings,
  lookups: Lookups,
): Outcome {
  const { expression } = condition;
  const { paths } = expression.compiled;
  const isUnknown = (path: ExprPath): boolean => unknownOf(path, condition, input) !== null;
  const unknown = [...new Set(paths.flatMap((path) => unknownOf(path, condition, input) ?? []))];
  const failed = unknown.length === 0 ? errorOf(condition, bindings, lookups) : null;
  const seen = {
    ...seenValues(paths, bindings.raw),
    ...Object.fromEntries(paths.filter(isUnknown).map(({ segments }) => [segments.join('.'), '(not known)'])),
  };
  const head = traceHead(condition);
  if (failed) return { verdict: 'error', away: 1, trace: { ...head, value: null, seen, ...failed } };
  const { value, parts, away } = explainExpression(expression.compiled, bindings.all, bindings.engine, {
    thorough: true,
    raw: bindings.raw,
    isUnknown,
  });
  const because = value === null || hasMoreToTell(expression.compiled, value) ? traceParts(parts, expression) : {};
  const trace = {
    ...head,
    value,
    seen: { ...seen, ...sidesOf(parts) },
    ...because,
    ...(value === null ? { unknown } : {}),
  };
  if (value === null) return { verdict: 'unknown', away: 0, trace };
  return value ? { verdict: 'fired', away: 0, trace } : { verdict: 'not-fired', away, trace };
}

/** What a path reads that nobody knows: the name of a lookup, or the bot. */
function unknownOf(
  { segments }: ExprPath,
  { expression }: ConditionProgram,
  { bot, lookups }: EvaluationInput,
): string[] | null {
  const [root, name] = segments;
  if (root === 'bot' && bot.login === null) return ['who the bot is'];
  if (root !== 'lookups') return null;
  const names = name === undefined ? [...expression.lookups] : [name];
  const missing = names.filter((lookup) => !Object.hasOwn(lookups, lookup));
  return missing.length > 0 ? missing.map(notKnown) : null;
}

function notKnown(lookup: string): string {
  return `the answer of lookup "${lookup}"`;
}

function errorOf(condition: ConditionProgram, bindings: Bindings, lookups: Lookups): JsonObject | null {
  try {
    const { error } = evaluateCondition(condition, bindings, lookups);
    return error && { error: error.message, ...(error.position ? { at: formatPosition(error.position) } : {}) };
  } catch (error) {
    // A lookup that this one's parameters read: what it gave is known all the same.
    if (error instanceof NeedsLookup) return null;
    throw error;
  }
}
