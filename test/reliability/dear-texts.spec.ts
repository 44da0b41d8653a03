import { describe, expect, it } from '@jest/globals';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { SPENT } from '../../src/rules/language/expressions/meter.js';
import { STEPS_PER_DECISION } from '../../src/rules/language/propose/bindings.js';
import { evaluateRule } from '../../src/rules/language/propose/evaluate-rule.js';
import { anEvent } from '../builders/arrivals.js';
import { aRule } from '../builders/rule-environment.js';

const KB = 1024;
const engine = new CelEngine();

/** What anybody may write into an issue, and a rule that reads it. */
const ATTACKS: ReadonlyArray<readonly [condition: string, body: string]> = [
  ['parse_yaml(event.issue.body) != null', '}'.repeat(32 * KB)],
  ['parse_yaml(event.issue.body) != null', '": '.repeat(10 * KB)],
  ['event.issue.body.upperAscii() == "A"', 'a'.repeat(5000 * KB)],
  ['section(event.issue.body, "1.0") != null', '# 1.0 '.repeat(800 * KB)],
  ['"%s".format([event.issue.body]) == "a"', 'a'.repeat(5000 * KB)],
  ['event.issue.body.replace("a", "b") == "b"', 'a'.repeat(5000 * KB)],
  ['int(event.issue.body) > 1', '9'.repeat(500 * KB)],
];

describe('reliability/dear-texts', () => {
  it.each(ATTACKS)(
    'spends the steps of one decision and no more on a text that is made to be dear: %s',
    (condition, body) => {
      const rule = aRule(
        `id: x\non: issue.opened\nif: {c: ${JSON.stringify(condition)}}\ndo: {milestone.ensure: {title: a}}`,
        '',
        { engine },
      );
      const event = anEvent({ kind: 'issue.opened', data: { issue: { number: '1', body } } });
      const evaluation = evaluateRule(
        rule,
        { org: 'acme', event, now: new Date(0), bot: { login: 'b', id: '1' }, lookups: {} },
        engine,
      );

      expect(evaluation).toMatchObject({ report: { verdict: 'error' }, steps: [] });
      expect(JSON.stringify(evaluation)).toContain(SPENT);
      expect(STEPS_PER_DECISION).toBeLessThanOrEqual(30_000);
    },
  );
});
