import { describe, expect, it } from '@jest/globals';
import { splitExpression } from './split-expression.js';
import type { Logic } from './split-expression.js';

/** `and(a, not(b))`, with the place of each part. */
function sketch(logic: Logic): string {
  if (logic.kind === 'part') return `${logic.text}@${logic.offset}`;
  return `${logic.kind}(${logic.kind === 'not' ? sketch(logic.of) : logic.of.map(sketch).join(', ')})`;
}

describe('rules/language/trace/split-expression', () => {
  it.each([
    ['event.draft', 'event.draft@0'],
    ['  event.draft ', 'event.draft@2'],
    ['a && b', 'and(a@0, b@5)'],
    ['a && b && c || d', 'or(and(a@0, b@5, c@10), d@15)'],
    ['(a || b) && !c', 'and(or(a@1, b@6), not(c@13))'],
    ['!(a && b)', 'not(and(a@2, b@7))'],
    ['!!a', 'not(not(a@2))'],
    ['!a == b', '!a == b@0'],
    ['(a) == (b)', '(a) == (b)@0'],
    ['a ? b && c : d', 'a ? b && c : d@0'],
    ['x == "a && b" && y', 'and(x == "a && b"@0, y@17)'],
    ['x == r"\\" && y', 'and(x == r"\\"@0, y@13)'],
    ["x == 'it\\'s && ' && y", "and(x == 'it\\'s && '@0, y@20)"],
    ['l.exists(m, m.a && m.b) && c', 'and(l.exists(m, m.a && m.b)@0, c@27)'],
    ['a // and && so\n && b', 'and(a // and && so@0, b@19)'],
    ['1.5e-3 < x && b', 'and(1.5e-3 < x@0, b@14)'],
  ])('%s => %s', (source, expected) => {
    expect(sketch(splitExpression(source))).toBe(expected);
  });

  it.each([
    ['a.b == "x == y"', ['a.b@0', '"x == y"@7']],
    ['size(a) >= 2', ['size(a)@0', '2@11']],
    ['"x" in a.b', ['"x"@0', 'a.b@7']],
    ['inside.a <  b - 1', ['inside.a@0', 'b - 1@12']],
    ['a.startsWith("x")', []],
    ['a == b == c', []],
    ['[1 < 2] == x', ['[1 < 2]@0', 'x@11']],
  ])('the sides of %s are %j', (source, expected) => {
    const part = splitExpression(source);

    expect(part.kind === 'part' && part.sides.map(({ text, offset }) => `${text}@${offset}`)).toEqual(expected);
  });

  it.each([
    [
      'a.b.all(m, m.x == "")',
      { macro: 'all', variable: 'm', range: { text: 'a.b', offset: 0 }, predicate: { text: 'm.x == ""', offset: 11 } },
    ],
    [
      ' a.filter(f, f(1, 2)) . exists( l , g(l, 1) )',
      {
        macro: 'exists',
        variable: 'l',
        range: { text: 'a.filter(f, f(1, 2))', offset: 1 },
        predicate: { text: 'g(l, 1)', offset: 36 },
      },
    ],
    [
      'a.exists_one(x, x)',
      { macro: 'exists_one', variable: 'x', range: { text: 'a', offset: 0 }, predicate: { text: 'x', offset: 16 } },
    ],
    ['a.all(m, m).b', null],
    ['a.map(m, m)', null],
    ['exists(a, b)', null],
    ['a.all(m, m) == true', null],
  ])('the loop of %s is %j', (source, expected) => {
    expect(splitExpression(source)).toMatchObject({ kind: 'part', loop: expected });
  });
});
