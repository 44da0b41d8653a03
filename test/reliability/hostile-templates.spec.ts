import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/core/json.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { STEPS_PER_DECISION } from '../../src/rules/language/propose/bindings.js';
import { evaluateRule } from '../../src/rules/language/propose/evaluate-rule.js';
import { MAX_OUTPUT } from '../../src/rules/language/propose/evaluate-template.js';
import { AnsweringRig } from '../builders/answering-rig.js';
import { anEvent } from '../builders/arrivals.js';
import { aRule } from '../builders/rule-environment.js';
import { textOf } from '../../src/core/reason.js';

const ANN = { id: '5', login: 'ann' };
const COUNT = 200;

const PUSH: JsonObject = {
  after: 'b'.repeat(40),
  branch: 'main',
  ref: 'refs/heads/main',
  nothing: null,
  word: 'vX',
  pattern: '(',
  flag: true,
  long: 'x'.repeat(17_000),
  text: 'a'.repeat(8_000),
  none: [],
  list: [1, 2, 3],
  map: { a: 1 },
  commits: Array.from({ length: 300 }, (_, n) => ({ id: String(n), message: `message ${n}`, added: ['a', 'b'] })),
};

/** Expressions that have no value when this push comes. */
const FAILING: readonly string[] = [
  'event.absent',
  'event.map.absent',
  'event.map.a.absent',
  'event.list[3]',
  'event.list[-1]',
  'event.none[0]',
  'event.commits[300].id',
  'event.map["b"]',
  'event.nothing.field',
  'event.word.field',
  'event.word[0]',
  'event.word + 1',
  'event.word - event.word',
  '-event.word',
  '!event.word',
  '1 / (event.list.size() - 3)',
  '1 % (event.list.size() - 3)',
  '9223372036854775807 + event.list[0]',
  '-9223372036854775807 - event.list[1]',
  '9223372036854775807 * event.list[1]',
  'int(event.word)',
  'int("1e400")',
  'double(event.word)',
  'timestamp(event.word)',
  'string(duration(event.word))',
  'minor(event.word)',
  'next_minor(event.word)',
  'date(event.word)',
  'event.word < event.list[0]',
  'event.flag < event.word',
  'event.word.matches(event.pattern)',
  'event.long.matches("b")',
  'event.text.replace("a", event.text)',
  'event.commits.map(c, event.text).join(event.text)',
  'event.commits.all(c, event.commits.all(d, c.id + d.id != "never")) ? "a" : "b"',
  'event.commits.map(c, c.absent)[0]',
  'event.flag ? event.absent : "a"',
  '[event.absent][0]',
  '{"a": event.absent}.a',
  'event.map.map(k, k.absent)[0]',
];

interface Place {
  readonly name: string;
  /** The steps of a rule of which one holds the template, as YAML below `do:`. */
  readonly steps: (template: string) => string;
}

const quoted = (text: string): string => JSON.stringify(text);
const FIRST = '{ use: milestone.ensure, with: { title: "first" } }';
const PLACES: readonly Place[] = [
  {
    name: 'alone',
    steps: (e) => `      - ${FIRST}\n      - { use: milestone.ensure, with: { title: ${quoted(`\${{ ${e} }}`)} } }`,
  },
  {
    name: 'inside a text',
    steps: (e) =>
      `      - ${FIRST}\n      - { use: milestone.ensure, with: { title: ${quoted(`for \${{ ${e} }} and more`)} } }`,
  },
  {
    name: 'in what may be left out',
    steps: (e) =>
      `      - ${FIRST}\n      - { use: milestone.ensure, with: { title: t, description: ${quoted(`\${{ ${e} }}.`)} } }`,
  },
  {
    name: 'for each of several',
    steps: (e) =>
      `      - ${FIRST}\n      - { use: milestone.ensure, for_each: "[1, 2]", with: { title: ${quoted(`\${{ item }} \${{ ${e} }}`)} } }`,
  },
  {
    name: 'as the list to walk',
    steps: (e) =>
      `      - ${FIRST}\n      - { use: milestone.ensure, for_each: ${quoted(`[${e}]`)}, with: { title: "\${{ item }}" } }`,
  },
];

const ruleOf = (id: string, steps: string): string => `
  - id: ${id}
    on: push
    limits: { effects_per_run: 5 }
    do:
${steps}
`;

describe('reliability: templates that cannot be made', () => {
  const bad = FAILING.flatMap((expression) => PLACES.map((place) => ({ expression, place })));

  it(`make no call for any step of their rule, and say what was wrong, all ${COUNT}`, async () => {
    const called: string[] = [];
    const unsaid: string[] = [];
    for (const { expression, place } of bad) {
      const house = new AnsweringRig(ruleOf('bad', place.steps(expression)));
      await house.happens('push', PUSH, ANN);
      await house.sweep();

      const [run] = await house.rig.journal.runs({ org: 'acme', limit: 10 });
      if (house.rig.forge.calls.length > 0) called.push(`${place.name}: ${expression}`);
      if (run?.state !== 'error' || !/\(.*:\d+:\d+\)/.test(textOf(run.reason)))
        unsaid.push(`${place.name}: ${expression}: ${run?.state} ${run && textOf(run.reason)}`);
    }

    expect(bad).toHaveLength(COUNT);
    expect(called).toEqual([]);
    expect(unsaid).toEqual([]);
  }, 120_000);

  it('call for both steps when there is a value', async () => {
    const calls = PLACES.map(async ({ steps }) => {
      const house = new AnsweringRig(ruleOf('good', steps('event.word')));
      await house.happens('push', PUSH, ANN);
      await house.sweep();
      return house.rig.written.length;
    });

    expect(await Promise.all(calls)).toEqual([2, 2, 2, 3, 2]);
  });
});

/** An engine that notes after each expression what is left of the budget. */
class WatchedEngine extends CelEngine {
  least = STEPS_PER_DECISION;
  evaluated = 0;

  override compile(...args: Parameters<CelEngine['compile']>): ReturnType<CelEngine['compile']> {
    const compiled = super.compile(...args);
    return {
      ...compiled,
      evaluate: (values, budget) => {
        try {
          this.evaluated += 1;
          return compiled.evaluate(values, budget);
        } finally {
          this.least = Math.min(this.least, budget?.remaining ?? 0);
        }
      },
    };
  }
}

/** A text of so many characters, each of so many bytes. */
const sized = (count: number, character: string): string => character.repeat(count);

const GROWING: ReadonlyArray<(n: number) => string> = [
  (n) => `${Array.from({ length: n * 4 }, () => 'event.text').join(' + ')}`,
  (n) => `"x"${'.replace("x", "xxxxxxxxxxxxxxxxxxxx")'.repeat(n)}`,
  (n) => `event.commits.map(c, event.text).join("${sized(n, '-')}")`,
  (n) => `event.commits.map(c, c.message).join("${sized(n * 10, ',')}")`,
  (n) => `"${'%s'.repeat(n)}".format([${Array.from({ length: n }, () => 'event.text').join(', ')}])`,
  (n) => `event.text.replace("a", "${sized(n, 'é')}")`,
  (n) => `event.text.split("").map(c, c + "${sized(n, 'ü')}").join("")`,
  (n) => `event.commits.map(c, event.commits.map(d, "${sized(n, 'x')}").join("")).join("")`,
  (n) => `event.commits.filter(c, event.commits.exists(d, d.id == c.message + "${n}")).size()`,
  (n) => `event.commits.all(c, c.message.matches("^(a|aa)+${n}$")) ? "a" : "${sized(n, 'b')}"`,
];
const SIZES = [1, 2, 3, 5, 8, 13, 14, 15, 16, 17];
const SHAPES: ReadonlyArray<(expression: string) => string> = [
  (e) => `\${{ ${e} }}`,
  (e) => `\${{ event.word }}: \${{ ${e} }}\${{ ${e} }}`,
];

describe('reliability: templates that are too much', () => {
  const hostile = GROWING.flatMap((grow) => SIZES.flatMap((size) => SHAPES.map((shape) => shape(grow(size)))));

  it(`neither take more steps than a decision has nor give more than ${MAX_OUTPUT} bytes, all ${COUNT}`, () => {
    const ends = { refused: 0, given: 0 };
    const over: string[] = [];
    const engine = new WatchedEngine();
    for (const template of hostile) {
      Object.assign(engine, { least: STEPS_PER_DECISION, evaluated: 0 });
      const rule = aRule(`id: x\non: push\ndo: {milestone.ensure: {title: ${quoted(template)}}}`, '', { engine });
      const evaluation = evaluateRule(
        rule,
        {
          org: 'acme',
          event: anEvent({ kind: 'push', data: PUSH }),
          now: new Date(0),
          bot: { login: 'b', id: '1' },
          lookups: {},
        },
        engine,
      );
      if (evaluation.kind !== 'decided' || engine.evaluated === 0) throw new Error(`not decided: ${template}`);
      const [step] = evaluation.steps;
      ends[step ? 'given' : 'refused'] += 1;
      const bytes = Buffer.byteLength(String(step?.items[0]?.params['title'] ?? ''));
      if (bytes > MAX_OUTPUT || (step && engine.least < 0))
        over.push(`${bytes} bytes, ${engine.least} steps left: ${template.slice(0, 80)}`);
    }

    expect(hostile).toHaveLength(COUNT);
    expect(over).toEqual([]);
    // Both ends are there, so the limits lie between them.
    expect(Math.min(ends.refused, ends.given)).toBeGreaterThan(20);
  }, 120_000);
});
