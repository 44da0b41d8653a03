import { createRequire } from 'node:module';
import type { ForgeEvent } from '../../src/core/event.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { createMatcher } from '../../src/rules/language/match/matcher.js';
import { rejectEvent } from '../../src/rules/language/match/where-filter.js';
import type { MatchContext } from '../../src/rules/language/match/where-filter.js';
import { evaluateRule } from '../../src/rules/language/propose/evaluate-rule.js';
import type { EvaluationInput } from '../../src/rules/language/propose/input.js';
import type { CompiledRule } from '../../src/rules/language/revision.js';
import type { Choice, Workload, WorkloadRule } from './workload.js';
import { freshly, MAX_COMMITS, NOT_BEGINNING } from './workload.js';

/** Decides about events, one after the other; says how many rules fired. */
export type Decide = (event: ForgeEvent) => number | Promise<number>;

export type Key = 'ours' | 'untraced' | 'loop' | 'json-rules-engine';

export interface Contestant {
  readonly key: Key;
  readonly name: string;
  /** Everything that is done once for a set of rules. */
  prepare(workload: Workload): Decide;
}

const NOW = new Date('2026-11-20T12:00:01Z');
const BOT = { id: '99', login: 'forgehand' };
const CONTEXT: MatchContext = { botLogin: BOT.login, botId: BOT.id };

/** One engine for all, as in the bot. */
export const engine = new CelEngine();

export const CONTESTANTS: readonly Contestant[] = [
  { key: 'ours', name: 'Forgehand, as the bot decides', prepare: asTheBotDoes },
  { key: 'untraced', name: 'Forgehand without traces', prepare: untraced },
  { key: 'loop', name: 'plain loop over our conditions', prepare: plainLoop },
  { key: 'json-rules-engine', name: 'json-rules-engine', prepare: jsonRulesEngine },
];

/** Through the port of the flow: candidates, then a traced decision about each. */
function asTheBotDoes({ revision }: Workload): Decide {
  const rules = new PureRuleEngine(engine);
  return (given) => {
    const event = freshly(given);
    let fired = 0;
    for (const candidate of rules.candidates(revision, event, BOT)) {
      const decision = rules.evaluate(
        revision,
        candidate,
        { event, org: event.org, repo: null, bot: BOT, now: NOW },
        {},
      );
      if (decision.kind === 'decided' && decision.report.verdict === 'fired') fired += 1;
    }
    return fired;
  };
}

function untraced({ revision }: Workload): Decide {
  const matcher = createMatcher(revision);
  return (given) => {
    const event = freshly(given);
    return countFired(matcher.match(event, CONTEXT).candidates, event, { untraced: true });
  };
}

/** What somebody writes who has our conditions and no index: ask every rule. */
function plainLoop({ revision }: Workload): Decide {
  return (given) => {
    const event = freshly(given);
    const candidates = revision.rules.filter(
      (rule) => rule.on.includes(event.kind) && rejectEvent(rule.program.where, event, CONTEXT) === null,
    );
    return countFired(candidates, event, {});
  };
}

function countFired(rules: readonly CompiledRule[], event: ForgeEvent, how: Pick<EvaluationInput, 'untraced'>): number {
  const input: EvaluationInput = { org: event.org, event, now: NOW, bot: BOT, lookups: {}, ...how };
  let fired = 0;
  for (const rule of rules) {
    const decision = evaluateRule(rule, input, engine);
    if (decision.kind === 'decided' && decision.report.verdict === 'fired') fired += 1;
  }
  return fired;
}

/** What is used of it. It lives in the package below bench/, which not every checkout has installed. */
interface JsonRulesEngine {
  addOperator(name: string, callback: (fact: string, value: string) => boolean): void;
  addRule(rule: { name: string; conditions: { all: unknown[] }; event: { type: string; params: object } }): void;
  run(facts: Readonly<Record<string, unknown>>): Promise<{ events: unknown[] }>;
}

/**
 * The same choices and conditions with its own operators and ours, in the way that is fastest for it: the choice has the higher priority, so
 * that the other conditions of a rule that does not match are not asked.
 */
function jsonRulesEngine({ rules }: Workload): Decide {
  const { Engine } = createRequire(import.meta.url)('json-rules-engine') as { Engine: new () => JsonRulesEngine };
  const peer = new Engine();
  peer.addOperator('startsWith', (text, beginning) => text.startsWith(beginning));
  peer.addOperator('endsWith', (text, end) => text.endsWith(end));
  peer.addOperator('doesNotStartWith', (text, beginning) => !text.startsWith(beginning));
  const globs = new Map<string, RegExp>();
  peer.addOperator('glob', (text, pattern) => {
    let regex = globs.get(pattern);
    if (!regex) globs.set(pattern, (regex = new RegExp(`^${pattern.replaceAll('*', '[^/]*')}$`)));
    return regex.test(text);
  });
  for (const rule of rules) peer.addRule(asPeerRule(rule));
  return async (given) => {
    const { repo, data, kind } = freshly(given);
    const { commits, head_commit, branch } = data as {
      commits: unknown[];
      head_commit: { message: string };
      branch: string;
    };
    const { events } = await peer.run({
      kind,
      branch,
      repo: repo?.full_name,
      name: repo?.name,
      commits: commits.length,
      message: head_commit.message,
    });
    return events.length;
  };
}

function asPeerRule({ id, choice }: WorkloadRule): Parameters<JsonRulesEngine['addRule']>[0] {
  const conditions = [
    { priority: 10, ...asPeerCondition(choice) },
    { priority: 1, fact: 'commits', operator: 'lessThanInclusive', value: MAX_COMMITS },
    { priority: 1, fact: 'message', operator: 'doesNotStartWith', value: NOT_BEGINNING },
  ];
  return { name: id, conditions: { all: conditions }, event: { type: 'milestone.ensure', params: { rule: id } } };
}

function asPeerCondition(choice: Choice): object {
  switch (choice.by) {
    case 'repo':
      return { fact: 'repo', operator: 'equal', value: `acme/${choice.name}` };
    case 'name-prefix':
      return { fact: 'name', operator: 'startsWith', value: choice.text };
    case 'name-suffix':
      return { fact: 'name', operator: 'endsWith', value: choice.text };
    case 'branch':
      return { fact: 'branch', operator: 'glob', value: choice.pattern };
  }
}
