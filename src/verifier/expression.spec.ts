import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { ruleFunctions } from '../rules/language/functions/index.js';
import { evaluateExpression } from './expression.js';
import { CannotDerive, RuleFails } from './failures.js';
import { functions } from './functions.js';

const evaluate = (text: string, scope: Record<string, unknown> = {}): unknown =>
  evaluateExpression(text, scope, functions);

const engine = new CelEngine();

/** What the bot makes of it; whole numbers as the verifier has them. */
function botEvaluates(text: string, scope: Record<string, unknown>): unknown {
  const value = engine.compile(text, Object.keys(scope)).evaluate(scope);
  return typeof value === 'bigint' ? Number(value) : value;
}

const number = fc.nat(99);
const version = fc
  .tuple(fc.constantFrom('', 'v'), number, number, fc.option(number), fc.constantFrom('', '-rc.1', '+build'))
  .map(([v, major, minor, patch, rest]) => `${v}${major}.${minor}${patch === null ? '' : `.${patch}`}${rest}`);
const path = fc.array(fc.constantFrom('src', 'docs', 'a', 'b.ts', 'c.md'), { minLength: 1, maxLength: 4 });
const paths = fc.array(
  path.map((parts) => parts.join('/')),
  { maxLength: 5 },
);
const patterns = fc.array(
  fc
    .array(fc.constantFrom('src', 'docs', '*', '**', '*.md', '?.ts', '{a,b}*', '[ab].ts'), {
      minLength: 1,
      maxLength: 3,
    })
    .map((parts) => parts.join('/')),
  { maxLength: 4 },
);

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

  it.each(['minor(tag)', 'next_minor(tag)', 'next_patch(tag)', 'next_major(tag)'])(
    'and the bot agree about %s of any version',
    (text) => {
      fc.assert(fc.property(version, (tag) => expect(evaluate(text, { tag })).toEqual(botEvaluates(text, { tag }))));
    },
  );

  it.each(['any_glob(paths, patterns)', 'all_glob(paths, patterns)'])('and the bot agree about %s', (text) => {
    fc.assert(
      fc.property(paths, patterns, (paths, patterns) =>
        expect(evaluate(text, { paths, patterns })).toEqual(botEvaluates(text, { paths, patterns })),
      ),
    );
  });

  it('and the bot agree about sums and days', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1000, max: 1000 })),
        fc.integer({ min: -999, max: 999 }),
        (list, days) => {
          const text = 'sum(list) + days';

          expect(evaluate(text, { list, days })).toEqual(
            botEvaluates(text, { list: list.map(BigInt), days: BigInt(days) }),
          );
          const day = `date(timestamp("2026-07-30T12:00:00Z") + days(${Math.abs(days)}))`;
          expect(evaluate(day)).toEqual(botEvaluates(day, {}));
        },
      ),
    );
  });

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
