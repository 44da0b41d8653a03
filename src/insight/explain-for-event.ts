import { shorten } from '../core/shorten.js';
import type { ForgeEvent } from '../core/event.js';
import { stringifyJson } from '../core/json.js';
import type { BotSelf } from '../pipeline/rule-engine.port.js';
import type { ExpressionEngine } from '../rules/language/expression-engine.js';
import { explainRejections } from '../rules/language/match/explain-rejection.js';
import type { CompiledRule, LookupAnswers, Revision } from '../rules/language/revision.js';
import { explainRule } from '../rules/language/trace/explain-rule.js';
import type { RuleExplanation } from '../rules/language/trace/explain-rule.js';
import type { ExplainedCondition, ExplainedFilter, ExplainedStep, Place, Verdict } from './explanation.js';
import { deepest, readTrace } from './read-trace.js';

/** In a sentence: parts, and values seen. */
const MAX_SEEN = 3;
const MAX_PART = 80;

/** All that a decision may see, out of what is stored. */
export interface StoredFacts {
  readonly event: ForgeEvent;
  readonly revision: Revision;
  /** Answers that were recorded; what is missing here is not known. */
  readonly answers: LookupAnswers;
  /** Null = who the bot is cannot be told here. */
  readonly bot: BotSelf | null;
  /** The time of the decision. */
  readonly now: Date;
}

interface RuleFindings {
  readonly verdict: Exclude<Verdict, 'absent'>;
  readonly reason: string;
  readonly look: Place | null;
  readonly filters: readonly ExplainedFilter[];
  readonly conditions: readonly ExplainedCondition[];
  readonly steps: readonly ExplainedStep[];
  /** Filters and parts of conditions that would have to be otherwise. */
  readonly away: number;
  readonly unknown: number;
}

/** Why one rule takes or does not take an event: every filter, every condition. Pure. */
export function explainForEvent(rule: CompiledRule, facts: StoredFacts, engine: ExpressionEngine): RuleFindings {
  const { event, bot } = facts;
  const filters = explainRejections(rule, event, {
    botLogin: bot?.login ?? null,
    botId: bot?.id ?? null,
    others: bot?.others ?? [],
  }).map(({ filter, wanted, seen, reason, position }): ExplainedFilter => ({
    filter,
    wanted,
    seen,
    reason,
    place: position,
  }));
  const [first] = filters;
  // Of an event of another kind its conditions would only miss fields.
  if (first?.filter === 'on') return { ...rejected(first), filters, conditions: [], steps: [], away: 1, unknown: 0 };
  const explained = explainRule(rule, inputOf(facts), engine);
  const { conditions, steps, failed } = readTrace(explained.trace);
  const base = { filters, conditions, steps, away: filters.length + explained.away, unknown: explained.unknown };
  return first ? { ...rejected(first), ...base } : { ...decided(explained, conditions, steps, failed), ...base };
}

function inputOf({ event, bot, now, answers, revision }: StoredFacts): Parameters<typeof explainRule>[1] {
  return {
    org: revision.org,
    event,
    now,
    bot: { login: bot?.login ?? null, id: bot?.id ?? null },
    config: { revision: revision.hash },
    lookups: answers,
  };
}

type Outcome = Pick<RuleFindings, 'verdict' | 'reason' | 'look'>;

function rejected({ filter, reason, place }: ExplainedFilter): Outcome {
  return {
    verdict: 'rejected',
    reason: `${filter === 'on' || filter === 'schedule' ? filter : `where.${filter}`}: ${reason}`,
    look: place,
  };
}

function decided(
  explained: RuleExplanation,
  conditions: readonly ExplainedCondition[],
  steps: readonly ExplainedStep[],
  failed: Place | null,
): Outcome {
  const { verdict, problem, effects } = explained;
  const wanted = STATE_OF[verdict];
  const condition = conditions.find(({ state }) => state === wanted);
  if (verdict === 'fired') return { verdict, ...wantedOf(conditions.length, effects, steps) };
  if (!condition)
    return {
      verdict,
      reason: verdict === 'unknown' ? `what its steps want is not known: ${problem}` : (problem ?? ''),
      look: failed,
    };
  return { verdict, reason: reasonOf(condition), look: condition.look };
}

const STATE_OF = { fired: 'true', 'not-fired': 'false', error: 'error', unknown: 'unknown' } as const;

/** One condition that did not hold, in one sentence: the parts that decided, and what they saw. */
function reasonOf({ name, state, text, because, seen, why }: ExplainedCondition): string {
  if (state !== 'false') return `condition "${name}"${state === 'unknown' ? ' is' : ':'} ${why}`;
  const parts =
    because.length > 0
      ? because.map((part) => `${oneLine(part.text)} is ${part.value}`)
      : [`${oneLine(text)} is false`];
  const sources = because.length > 0 ? because.map((part) => part.text).join(' ') : text;
  const saw = Object.entries(seen)
    .filter(([path]) => sources.includes(path))
    .slice(0, MAX_SEEN);
  const where = saw.map(([path, value]) => `${path} = ${stringifyJson(value)}`).join(', ');
  return `condition "${name}": ${parts.slice(0, MAX_SEEN).join(', ')}${where === '' ? '' : ` (${where})`}`;
}

function oneLine(text: string): string {
  return shorten(text.replace(/\s+/g, ' '), MAX_PART);
}

function wantedOf(
  conditions: number,
  effects: number,
  steps: readonly ExplainedStep[],
): Pick<Outcome, 'reason' | 'look'> {
  const conditionsText =
    conditions === 0 ? 'no conditions' : conditions === 1 ? 'its condition holds' : `all ${conditions} conditions hold`;
  if (effects > 0)
    return { reason: `${conditionsText}; ${effects} ${effects === 1 ? 'effect' : 'effects'} planned`, look: null };
  const idle = steps.find((step) => step.held);
  return idle
    ? { reason: `${conditionsText}, but step ${idle.id} wants nothing: ${idle.outcome}`, look: lookOfStep(idle) }
    : { reason: `${conditionsText}; no effect planned`, look: null };
}

/** The line because of which a step wants nothing. */
export function lookOfStep({ held }: ExplainedStep): Place | null {
  const [first] = held?.because ?? [];
  return first ? deepest(first) : (held?.place ?? null);
}
