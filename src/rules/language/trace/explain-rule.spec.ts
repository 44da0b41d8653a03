import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { aRule } from '../../../../test/builders/rule-environment.js';
import type { JsonObject } from '../../../core/json.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { evaluateRule } from '../propose/evaluate-rule.js';
import type { LookupAnswers } from '../revision.js';
import { explainRule } from './explain-rule.js';
import type { RuleExplanation } from './explain-rule.js';

const engine = new CelEngine();
const EVENT = anEvent({
  kind: 'release.published',
  repo: { id: '7', owner: 'acme', name: 'web', full_name: 'acme/web', private: false, default_branch: 'main' },
  data: { tag: 'v1.4.0', release: { draft: false }, labels: [{ name: 'a' }, { name: 'b' }] },
});
const INPUT = { org: 'acme', event: EVENT, now: new Date('2026-07-30T12:00:00Z') };

function explain(
  conditions: string,
  lookups: LookupAnswers = {},
  login: string | null = 'forgehand',
  steps = 'do: {milestone.ensure: {title: a}}',
): RuleExplanation {
  const rule = aRule(
    `id: x\non: release.published\nlookup:\n  line: {use: branch.get, with: {branch: main}, on_missing: none}\n  tasks: {use: tasks.list}\nif:\n${conditions}\n${steps}`,
  );
  return explainRule(rule, { ...INPUT, bot: { login }, lookups }, engine);
}

function conditionsOf({ trace }: RuleExplanation): JsonObject[] {
  return trace['conditions'] as JsonObject[];
}

describe('rules/language/trace/explain-rule', () => {
  it.each<[string, string, Partial<RuleExplanation>]>([
    [
      'all hold',
      '  a: event.tag != ""\n  b: repo.name == "web"',
      { verdict: 'fired', away: 0, unknown: 0, effects: 1 },
    ],
    [
      'each false part counts',
      '  a: event.tag == "" && repo.name == "x"\n  b: event.release.draft',
      { verdict: 'not-fired', away: 3 },
    ],
    [
      'of alternatives, one would do',
      '  a: event.tag == "" || (repo.name == "x" && repo.private)',
      { verdict: 'not-fired', away: 1 },
    ],
    ['an error is one part', '  a: event.nothing == 1\n  b: repo.name == "web"', { verdict: 'error', away: 1 }],
    ['false outweighs an error', '  a: event.nothing == 1\n  b: repo.private', { verdict: 'not-fired', away: 2 }],
    [
      'a read that nobody kept',
      '  a: repo.name == "web"\n  b: lookups.line != null',
      { verdict: 'unknown', away: 0, unknown: 1 },
    ],
    [
      'a part that is false whatever the read gave',
      '  b: repo.private && lookups.line != null',
      { verdict: 'not-fired', away: 1, unknown: 0 },
    ],
    [
      'a part that is true whatever the read gave',
      '  b: "!repo.private || lookups.line != null"',
      { verdict: 'fired' },
    ],
    [
      'absence of an answer is no answer',
      '  b: "!has(lookups.line) || lookups.line == null"',
      { verdict: 'unknown', unknown: 1 },
    ],
    ['the answers as a whole', '  b: lookups.size() == 0', { verdict: 'unknown', unknown: 1 }],
  ])('%s', (_situation, conditions, expected) => {
    expect(explain(conditions)).toMatchObject(expected);
  });

  it('says what is not known, where it stands and what else it saw', () => {
    const [first, second] = conditionsOf(
      explain('  a: lookups.line != null && repo.name == "web"\n  b: bot.login == "x"', {}, null),
    );

    expect(first).toMatchObject({
      name: 'a',
      value: null,
      line: 11,
      unknown: ['the answer of lookup "line"'],
      seen: { 'lookups.line': '(not known)', 'repo.name': 'web' },
      because: [{ source: 'lookups.line != null', line: 11, value: null }],
    });
    expect(second).toMatchObject({ value: null, unknown: ['who the bot is'], seen: { 'bot.login': '(not known)' } });
  });

  it('uses the answers that are there, and knows what they do not settle', () => {
    const conditions = '  a: lookups.line == null\n  b: lookups.tasks.exists(t, t.name == "x")';

    expect(explain(conditions, { line: { missing: true } })).toMatchObject({ verdict: 'unknown', unknown: 1 });
    expect(explain(conditions, { line: { missing: true }, tasks: { value: [{ name: 'x' }] } })).toMatchObject({
      verdict: 'fired',
    });
    expect(explain(conditions, { line: { missing: true }, tasks: { failed: 'timed out' } })).toMatchObject({
      verdict: 'error',
      away: 1,
    });
    expect(explain(conditions, { line: { missing: true }, tasks: { missing: true } })).toMatchObject({
      verdict: 'error',
      away: 1,
    });
  });

  it('does not know what steps want that need a read', () => {
    const explained = explain(
      '  a: "true"',
      {},
      'forgehand',
      'do: {milestone.ensure: {title: a}, when: lookups.line == null}',
    );

    expect(explained).toMatchObject({ verdict: 'unknown', unknown: 1, problem: 'the answer of lookup "line"' });
  });

  it('tells why a step wants nothing', () => {
    const explained = explain(
      '  a: "true"',
      {},
      'forgehand',
      'do:\n  - {milestone.ensure: {title: a}, when: repo.private || event.release.draft}\n  - milestone.ensure: {title: "${{ item.name }}"}\n    id: s\n    for_each: event.labels\n    when: item.name == "b"\nlimits: {effects_per_run: 9}',
    );

    expect(explained).toMatchObject({ verdict: 'fired', effects: 1 });
    expect(explained.trace['steps']).toMatchObject([
      {
        outcome: 'when is false',
        held: {
          why: 'when',
          line: 13,
          seen: { 'repo.private': false },
          because: [{ source: 'repo.private' }, { source: 'event.release.draft' }],
        },
      },
      {
        outcome: 'wanted, 1 item skipped',
        items: ['b'],
        held: { why: 'when', line: 17, seen: { 'item.name': 'a' } },
      },
    ]);
  });

  it('agrees with the decision wherever all answers are there', () => {
    const lookups: LookupAnswers = { line: { value: { name: 'main' } }, tasks: { value: [] } };
    for (const conditions of [
      '  a: lookups.line != null',
      '  a: lookups.tasks.size() > 0',
      '  a: event.nothing',
      '  a: lookups.line.nothing == 1 || true',
      '  a: repo.private\n  b: event.nothing',
      '  a: event.tag',
    ]) {
      const rule = aRule(
        `id: x\non: release.published\nlookup: {line: {use: branch.get, with: {branch: main}}, tasks: {use: tasks.list}}\nif:\n${conditions}\ndo: {milestone.ensure: {title: a}}`,
      );
      const input = { ...INPUT, bot: { login: 'forgehand' }, lookups };
      const decided = evaluateRule(rule, input, engine);

      expect(explainRule(rule, input, engine).verdict).toBe(
        decided.kind === 'decided' ? decided.report.verdict : 'unknown',
      );
    }
  });
});
