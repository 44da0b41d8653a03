import type { JsonObject } from '../../../core/json.js';
import type { Reason } from '../../../core/reason.js';
import { verdictReason } from '../../../core/run-reasons.js';
import type { ConditionProgram } from '../compile/program.js';
import type { ExpressionEngine } from '../expression-engine.js';
import type { CompiledRule, Evaluation, LookupAnswers, ProposedStep, Report } from '../revision.js';
import type { Position } from '../../../core/problem.js';
import { traceCondition, traceFailure } from '../trace/trace.js';
import type { ConditionResult } from '../trace/trace.js';
import { Bindings } from './bindings.js';
import { judgeCommand } from './command-rights.js';
import { evaluateExpression } from './evaluate-template.js';
import type { EvaluationInput } from './input.js';
import { Lookups, NeedsLookup } from './lookups.js';
import { Misfit, formatPosition } from './misfit.js';
import { judgeFilters } from '../match/open-filters.js';
import { countItems, proposeSteps } from './propose-steps.js';
import { mayRestOn, restsOn, restsOnMemory } from './rests-on.js';

/**
 * Decide about one rule and one cause. Pure: when a read is needed and has no answer yet, the answer is the request for it, and the
 * caller evaluates again with one answer more. A condition that is false without any read ends it before one is made.
 */
export function evaluateRule(rule: CompiledRule, input: EvaluationInput, engine: ExpressionEngine): Evaluation {
  const bindings = new Bindings(input, rule.program, engine);
  const lookups = new Lookups(rule.program, input.lookups);
  const results: ConditionResult[] = rule.program.conditions.map((condition) => ({
    condition,
    value: null,
    error: null,
  }));
  const decide = (
    verdict: Report['verdict'],
    reason: Reason,
    steps: ProposedStep[] = [],
    more: JsonObject = {},
  ): Decided => ({
    kind: 'decided',
    report: {
      rule: rule.id,
      verdict,
      reason,
      trace: bindings.isTraced
        ? traceOf(rule, results, bindings, { ...readsOf(rule, lookups.answers), ...more })
        : null,
    },
    steps,
  });
  const unknown = (paths: readonly string[], position: Position | null, more: JsonObject = {}): Decided => {
    const decided = decide(
      'error',
      verdictReason('verdict.unknown', { fields: [...paths], at: placeOf(position) }),
      [],
      more,
    );
    return { ...decided, report: { ...decided.report, unknown: [...paths] } };
  };
  const { login: botLogin, id: botId = null } = input.bot;
  const filters = judgeFilters(rule.program.where, input.event, { botLogin, botId });
  if (filters.rejection) {
    const { filter, reason, position } = filters.rejection;
    return decide('not-fired', verdictReason('verdict.filtered', { filter, because: reason, at: placeOf(position) }));
  }
  for (;;) {
    try {
      const failing = evaluateConditions(results, bindings, lookups);
      const [filtered] = failing?.value === false ? [] : filters.unknown;
      if (filtered) return unknown([...new Set(filters.unknown.map(({ path }) => path))], filtered.position);
      const open = failing?.error?.unknown ?? [];
      if (failing?.error && open.length > 0) {
        const all = results.flatMap(({ error }) => error?.unknown ?? []);
        return unknown([...new Set(all)], failing.error.position);
      }
      if (failing?.error)
        return decide(
          'error',
          verdictReason('verdict.condition-failed', {
            condition: failing.condition.name,
            error: failing.error.message,
            at: placeOf(failing.error.position),
          }),
        );
      if (failing) {
        const idle = decide(
          'not-fired',
          verdictReason('verdict.condition-false', {
            condition: failing.condition.name,
            at: placeOf(failing.condition.position),
          }),
        );
        const rests = restsOnMemory(rule.program, input.event);
        return rests ? { ...idle, rests } : idle;
      }
      const { steps, trace } = proposeSteps(rule.program, rule.limits, bindings, lookups);
      const rights = judgeCommand(rule.program, input.event, lookups.answers, steps);
      if (rights?.refusal) return decide('not-fired', rights.refusal, [], { rights: rights.trace });
      const fired = decide(
        'fired',
        verdictReason('verdict.conditions-hold', { conditions: results.length, effects: countItems(steps) }),
        steps,
        { steps: trace, ...(rights ? { rights: rights.trace } : {}) },
      );
      const rests = restsOn(rule.program, input.event, steps);
      return rests ? { ...fired, rests } : fired;
    } catch (error) {
      if (error instanceof Misfit && error.unknown.length > 0)
        return unknown(error.unknown, error.position, { failed: traceFailure(error) });
      if (error instanceof Misfit)
        return decide(
          'error',
          verdictReason('verdict.failed', { error: error.message, at: placeOf(error.position) }),
          [],
          { failed: traceFailure(error) },
        );
      if (!(error instanceof NeedsLookup)) throw error;
      const answer = input.recall?.(error.request);
      if (!answer) {
        const rests = mayRestOn(rule.program, input.event);
        return { kind: 'needs-lookup', request: error.request, ...(rests ? { rests } : {}) };
      }
      lookups.answers = { ...lookups.answers, [error.request.as]: answer };
      bindings.learn(lookups.answers);
    }
  }
}

type Decided = Extract<Evaluation, { kind: 'decided' }>;

function traceOf(
  { position }: CompiledRule,
  results: readonly ConditionResult[],
  bindings: Bindings,
  more: JsonObject,
): JsonObject {
  return {
    at: formatPosition(position),
    conditions: results.map((result) => traceCondition(result, bindings)),
    steps: [],
    ...more,
  };
}

/** Which lookup each recorded answer came from. */
function readsOf({ program }: CompiledRule, answers: LookupAnswers): JsonObject {
  const reads = program.lookups.filter(({ as }) => Object.hasOwn(answers, as)).map(({ as, use }) => [as, use]);
  return reads.length > 0 ? { reads: Object.fromEntries(reads) as JsonObject } : {};
}

/**
 * All that can be told without reading first, then read by read. False outweighs an error: either way the rule does not fire, and
 * an error is only news when nothing else speaks against it.
 * @returns the first condition that is false, else the first that failed, else the first that needs what is not known, else null
 */
function evaluateConditions(results: ConditionResult[], bindings: Bindings, lookups: Lookups): ConditionResult | null {
  for (;;) {
    for (const [index, { condition, value, error }] of results.entries()) {
      const isOpen = value === null && error === null && lookups.isAnswered(condition.expression.lookups);
      if (isOpen) results[index] = { condition, ...evaluateCondition(condition, bindings, lookups) };
    }
    bindings.settle();
    const failing =
      results.find(({ value }) => value === false) ??
      results.find(({ error }) => error !== null && error.unknown.length === 0);
    if (failing) return failing;
    // What one needs that is not known is not needed where another one is false.
    const waiting = results.find(({ value, error }) => value === null && error === null);
    if (!waiting) return results.find(({ error }) => error !== null) ?? null;
    const { condition } = waiting;
    try {
      lookups.require(condition.expression.lookups, bindings);
    } catch (error) {
      if (!(error instanceof Misfit) || error.unknown.length === 0) throw error;
      results[results.indexOf(waiting)] = { condition, value: null, error: asError(error) };
    }
  }
}

/** One condition alone. @throws NeedsLookup */
export function evaluateCondition(
  condition: ConditionProgram,
  bindings: Bindings,
  lookups: Lookups,
): Pick<ConditionResult, 'value' | 'error' | 'turns'> {
  try {
    lookups.require(condition.expression.lookups, bindings);
    const value = evaluateExpression(condition.expression, bindings);
    if (typeof value === 'boolean') return { value, error: null, turns: bindings.budget.turns };
    throw new Misfit('a condition must be true or false, and this is neither', condition.expression.start);
  } catch (error) {
    if (error instanceof Misfit) return { value: null, error: asError(error) };
    throw error;
  }
}

function asError({ message, position, unknown }: Misfit): NonNullable<ConditionResult['error']> {
  return { message, position, unknown };
}

function placeOf(position: Parameters<typeof formatPosition>[0] | null): string | null {
  return position && formatPosition(position);
}
