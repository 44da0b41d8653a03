import { describe, expect, it } from '@jest/globals';
import { ruleFunctions } from '../rules/language/functions/index.js';
import { evaluateExpression } from './expression.js';
import { CannotDerive, RuleFails } from './failures.js';
import { functions } from './functions.js';

const evaluate = (text: string, scope: Record<string, unknown> = {}): unknown =>
  evaluateExpression(text, scope, functions);

describe('verifier/expression', () => {
  it.each<[string, unknown]>([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['"a" + \'b\'', 'ab'],
    ['!true || 2 < 3 && "x" != "y"', true],
    ['event.tag.contains("-") ? "yes" : "no"', 'no'],
    ['!event.tag.contains("-")', true],
    ['event.tag.matches("^v[0-9]+[.][0-9]+[.]0$")', true],
    ['has(event.release.id) ? event.release.id : null', null],
    ['event.files.filter(f, glob(f, "repos/*.yml")).map(f, f.size())', [11]],
    ['event.files.exists(f, f == "README.md")', true],
    ['event.files[0] + "!"', 'repos/a.yml!'],
    ['slug("A b-C").upperAscii().replace("-", "_")', 'A_B_C'],
    ['"a" in ["a", "b"]', true],
    ['null == null', true],
    ['event.gone == 1 || true', true],
    ['event.gone == 1 && false', false],
  ])('%s => %j', (text, value) => {
    expect(evaluate(text, { event: { tag: 'v1.4.0', release: {}, files: ['repos/a.yml', 'README.md'] } })).toEqual(
      value,
    );
  });

  it.each(['event.gone', 'event.gone && true', 'minor("nightly")', 'event.tag && true'])(
    '%s fails as the rule would',
    (text) => {
      expect(() => evaluate(text, { event: { tag: 'v1.4.0' } })).toThrow(RuleFails);
    },
  );

  it.each(['age(now)', 'a ~ b', 'x.sort()', '1 +', 'f(1'])('%s cannot be told here, and says so', (text) => {
    expect(() => evaluate(text, { a: 1, b: 1, x: [], now: 1 })).toThrow(CannotDerive);
  });

  it.each(
    ruleFunctions.filter(({ name }) => name in functions).map(({ name, example }) => [name, ...example] as const),
  )('means by %s what its documentation says: %s => %j', (_name, text, value) => {
    const told = evaluate(text);

    expect(typeof told === 'string' ? told : JSON.stringify(told)).toEqual(value);
  });
});
