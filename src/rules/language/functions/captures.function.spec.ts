import { describe, expect, it, jest } from '@jest/globals';
import { ExpressionError, type Budget } from '../expression-engine.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { SPENT } from '../expressions/meter.js';
import { compileRegex } from '../expressions/regex.js';

const engine = new CelEngine();

function call(source: string, text = '', budget?: Budget): unknown {
  return engine.compile(source, ['text']).evaluate({ text }, budget);
}

function failure(source: string, text = '', budget?: Budget): string {
  try {
    return `gives ${String(call(source, text, budget))}`;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

const CLOSES = String.raw`captures(text, "(?i)(?:closes|fixes) #([0-9]+)")`;

describe('rules/functions/captures', () => {
  it.each([
    ['This closes #12.\nFixes #7, and fixes #12 again', ['12', '7']],
    ['see #12', []],
    ['', []],
    ['Fixes #12x', ['12']],
  ])('of %j', (text, captured) => {
    expect(call(CLOSES, text)).toEqual(captured);
  });

  it.each([
    ['captures("backport/1.4 bug backport/1.5", "backport/([^ ]+)")', ['1.4', '1.5']],
    ['captures("a1 b2", "[0-9]")', ['1', '2']],
    ['captures("ab", "(x)?b")', []],
    ['captures("aab", "(a*)")', ['aa', '']],
    ['captures("k: v", "(?P<key>[a-z]+): (v)")', ['k']],
    ['captures("é1é2", "é([0-9])")', ['1', '2']],
  ])('%s', (source, captured) => {
    expect(call(source)).toEqual(captured);
  });

  it.each([
    ['captures(text, "(a")', /does not parse/],
    [String.raw`captures(text, r"(a)\1")`, /there are no back references/],
    ['captures(text, "(?=a)b")', /there is no look-ahead/],
    ['captures(text, "((a{9}){9}){9}")', /too large/],
  ])('%s is refused when the rule is loaded', (source, message) => {
    expect(() => engine.compile(source, ['text'])).toThrow(message);
  });

  it('refuses what is too much, and never cuts it', () => {
    expect(failure(CLOSES, 'x'.repeat(8193))).toContain(
      'captures takes texts of at most 8192 characters, this has 8193',
    );
    expect(failure('captures(text, "a")', 'a'.repeat(101), { remaining: 1e9 })).toContain('more than 100 matches');
  });

  it('pays for each search before it begins', () => {
    const pattern = '(a.*b|a)';
    const regex = compileRegex(pattern);
    const matcherOf = regex.matcher.bind(regex);
    let searches = 0;
    const spy = jest.spyOn(regex, 'matcher').mockImplementation((text) => {
      const matcher = matcherOf(text);
      const find = matcher.find.bind(matcher);
      matcher.find = () => {
        searches += 1;
        return find();
      };
      return matcher;
    });
    const text = 'a'.repeat(8000);
    const counts = [300, 5_000, 20_000].map((remaining) => {
      searches = 0;
      expect(failure(`captures(text, "${pattern}")`, text, { remaining })).toBe(SPENT);
      return searches;
    });
    spy.mockRestore();

    // Each of them may look at the whole text: a budget buys so many, and none on credit.
    expect(counts[0]).toBe(0);
    expect(counts[1]).toBeLessThan(5);
    expect(counts[2]).toBeLessThan(20);
    expect(counts[2]).toBeGreaterThan(counts[1] ?? 0);
  });

  it('costs the same whoever compiled the pattern before', () => {
    const spent = [1, 2].map(() => {
      const budget = { remaining: 20_000 };
      call('captures(text, "(new-pattern-[0-9]+)")', 'new-pattern-1', budget);
      return 20_000 - budget.remaining;
    });

    expect(spent[0]).toBe(spent[1]);
  });

  it('may take long by its text, so that a decision with it is bounded by its thread', () => {
    const { worstCase } = engine.compile(CLOSES, ['text']);

    expect(worstCase).toBeGreaterThan(engine.compile('text.matches("#([0-9]+)")', ['text']).worstCase * 100);
  });
});
