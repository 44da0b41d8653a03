import { describe, expect, it } from '@jest/globals';
import { ExpressionError } from '../expression-engine.js';
import { CelEngine } from './cel-engine.js';
import { MAX_LIST, MAX_TEXT, SPENT } from './meter.js';

const engine = new CelEngine();
const DATA = {
  list: Array.from({ length: MAX_LIST }, (_, index) => index),
  long: Array.from({ length: MAX_LIST + 1 }, (_, index) => index),
  maps: Array.from({ length: 200 }, () => ({ a: Array.from({ length: 200 }, (_, index) => index) })),
  text: 'a'.repeat(8000),
  huge: 'a'.repeat(9000),
  texts: Array.from({ length: MAX_LIST }, (_, index) => `src/${index}/a.ts`).map((text) => `${text}/*`),
  now: new Date(0),
};

function failure(source: string, budget?: { remaining: number }): string {
  try {
    engine.compile(source, Object.keys(DATA)).evaluate(DATA, budget);
    return 'no failure';
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

const TOO_LONG = `a text longer than ${MAX_TEXT} characters`;
const SPENT_OR_TOO_LONG = [SPENT, TOO_LONG];

describe('rules/expressions, costs', () => {
  it.each([
    ['two loops over a long list', 'list.all(a, list.all(b, a + b >= 0))'],
    ['two loops that find nothing', 'list.exists(a, list.exists(b, b < 0))'],
    ['a loop that compares large values', 'maps.all(m, maps.all(n, m == n))'],
    ['a loop that searches a list', 'list.all(a, a in list)'],
    ['a loop of regular expressions', 'list.all(a, text.matches("(a+)+$"))'],
    ['many patterns against many texts', 'any_glob(texts, texts)'],
    ['a loop of lists of patterns', 'list.all(a, !any_glob(texts, ["x", "y"]))'],
    ['a loop that searches a long text', 'list.all(a, list.all(b, !text.contains("b")))'],
  ])('stops %s', (_name, source) => {
    expect(failure(source)).toBe(SPENT);
  });

  it('stops even where an error is absorbed', () => {
    expect(failure('list.all(a, list.all(b, true)) || true')).toBe(SPENT);
  });

  it.each([
    ['replaced again and again', `"x"${'.replace("x", "xxxxxxxxxxxxxxxxxxxx")'.repeat(20)}`],
    ['replaced by itself', 'text.replace("a", text)'],
    ['replaced at every character', 'text.replace("", text)'],
    ['joined', 'list.map(a, text).join(text)'],
    ['formatted', `"${'%s'.repeat(40)}".format([${Array.from({ length: 40 }, () => 'text').join(', ')}])`],
    ['formatted from a list', '"%s".format([list.map(a, text)])'],
    ['added up', Array.from({ length: 60 }, () => 'text').join(' + ')],
  ])('makes no text without end: %s', (_name, source) => {
    expect(SPENT_OR_TOO_LONG).toContain(failure(source));
  });

  it('makes no list without end', () => {
    expect(failure(`(${Array.from({ length: 11 }, () => 'list').join(' + ')}).size() > 1`)).toBe(
      'a list of more than 10000 elements',
    );
  });

  it('walks lists up to the cap, and counts longer ones without walking them', () => {
    expect(failure('list.map(a, a + 1).size() == 1000')).toBe('no failure');
    expect(failure('long.all(a, true)')).toBe('a list of 1001 elements; an expression may walk 1000');
    expect(failure('sum(list) > 0 && all_glob(texts, ["src/**", "a"])')).toBe('no failure');
    expect(failure('sum(long) > 0')).toBe('a list of 1001 elements; an expression may walk 1000');
    expect(failure('long.size() == 1001')).toBe('no failure');
  });

  it('refuses to search a long text rather than to search half of it', () => {
    expect(failure('huge.matches("b")')).toBe('matches takes texts of at most 8192 characters, this has 9000');
  });

  it.each([
    '(a+)+$',
    '(a|aa)+$',
    '(a|a?)+$',
    '([a-z]+)*=',
    '(.*a){25}b',
    '^(a?){25}a{25}$',
    '(a*)*b',
    '(x+x+)+y',
    '\\\\pL+\\\\PL',
    '(?i)é*b',
  ])('searches in linear time: %s', (pattern) => {
    // A backtracking engine takes exponential time for these; here they cost what every pattern of their size costs.
    expect(failure(`text.matches("${pattern}") || true`, { remaining: 20_000 })).toBe('no failure');
  });

  it('shares one budget among the expressions of a decision', () => {
    const budget = { remaining: 1500 };

    expect(failure('list.all(a, a >= 0)', budget)).toBe(SPENT);
    expect(budget.remaining).toBeLessThanOrEqual(0);
    expect(failure('1 + 1 == 2', budget)).toBe(SPENT);
  });
});
