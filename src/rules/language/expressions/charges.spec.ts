import { describe, expect, it } from '@jest/globals';
import { HOSTILE_CALLS, HOSTILE_DATA } from '../../../../test/builders/hostile-calls.js';
import type { HostileCall, HostileInput } from '../../../../test/builders/hostile-calls.js';
import { ExpressionError } from '../expression-engine.js';
import { defineFunction } from '../functions/define-function.js';
import { STEPS_PER_DECISION } from '../propose/bindings.js';
import { CelEngine } from './cel-engine.js';
import { chargeOf } from './charges.js';
import { SPENT } from './meter.js';

const engine = new CelEngine();
const LARGE = 12 * 1024 * 1024;
/** What takes numbers, times and truth values alone: nothing in an argument can be large. */
const OF_SCALARS = ['!_', '-_', '_%_', '_*_', '_-_', '_/_', 'age', 'date', 'days', 'dyn', 'quarter', 'type'];
const data = Object.fromEntries(
  Object.entries({ ...HOSTILE_DATA, now: new Date(0) }).map(([name, value]) => [name, engine.bind(value)]),
);
const made = new Map<HostileInput, unknown>();

function spent({ source }: HostileCall, input: HostileInput, size: number): { steps: number; message: string } {
  const compiled = engine.compile(source, ['x', ...Object.keys(data)]);
  if (size === LARGE && !made.has(input)) made.set(input, engine.bind(input.of(size)));
  const x = size === LARGE ? made.get(input) : engine.bind(input.of(size));
  const budget = { remaining: STEPS_PER_DECISION };
  try {
    compiled.evaluate(Object.freeze({ ...data, x }), budget);
    return { steps: STEPS_PER_DECISION - budget.remaining, message: '' };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { steps: STEPS_PER_DECISION - budget.remaining, message: error.message };
  }
}

/** Refused for their size alone, before anything is done with them. */
const TOO_LARGE = /^(?:a pattern may have|a list of|a regular expression may have|matches takes texts of at most)/;
/** Lists of texts are as long as lists may be, and the texts are not looked at. */
const isShallow = (name: string, { title }: HostileInput): boolean =>
  title === 'texts' && ['_+_', '@walk', 'sum', '@in', '_==_', '_!=_'].includes(name);

describe('rules/language/expressions/charges', () => {
  it('has a hostile call of every function that takes a text or a list', () => {
    const called = new Set(HOSTILE_CALLS.map(({ name }) => name));

    expect(engine.functionNames().filter((name) => !called.has(name))).toEqual(OF_SCALARS);
  });

  it('refuses a function of the library that nobody has said the cost of', () => {
    expect(() => chargeOf('reverse')).toThrow('the function "reverse" has no charge');
  });

  it.each(HOSTILE_CALLS.map((call) => [call.source.slice(0, 70), call] as const))(
    'refuses what is too dear, and charges it first: %s',
    (_source, call) => {
      for (const input of call.inputs) {
        if (isShallow(call.name, input)) continue;
        const { steps, message } = spent(call, input, LARGE);
        expect([input.title, steps >= STEPS_PER_DECISION ? SPENT : message]).toEqual([
          input.title,
          expect.stringMatching(steps >= STEPS_PER_DECISION ? /too many steps/ : TOO_LARGE),
        ]);
      }
    },
  );

  it.each(HOSTILE_CALLS.map((call) => [call.source.slice(0, 70), call] as const))(
    'costs the same each time: %s',
    (_source, call) => {
      for (const input of call.inputs) expect(spent(call, input, 512).steps).toBe(spent(call, input, 512).steps);
    },
  );

  it('charges a function of ours before it begins', () => {
    let runs = 0;
    const dear = defineFunction({
      name: 'dear',
      summary: '',
      params: [{ name: 'text', type: 'string' }],
      result: 'int',
      example: ['', ''],
      charge: ([text]) => 100 * text.length,
      run: () => {
        runs += 1;
        return 1n;
      },
    });
    const compiled = new CelEngine([dear]).compile('dear(x)', ['x']);
    const budget = { remaining: 1_000 };

    expect(compiled.evaluate({ x: 'four' }, budget)).toBe(1n);
    expect(budget.remaining).toBeLessThan(600);
    expect(() => compiled.evaluate({ x: 'eleven more' }, budget)).toThrow(SPENT);
    expect(runs).toBe(1);
  });

  it('lets an honest YAML file through, and refuses an issue that is nothing but signs', () => {
    const call = { name: 'parse_yaml', source: 'parse_yaml(x) != null', inputs: [] };
    const text = (of: string): HostileInput => ({ title: '', of: () => of });
    const honest = Array.from({ length: 80 }, (_, index) => `key_${index}: some words of a value`).join('\n');

    expect(spent(call, text(honest), 0)).toMatchObject({ message: '' });
    for (const signs of ['}', ']', '- &a ', '": ', '[', '? ', '#\n'])
      expect(spent(call, text(signs.repeat(32_768).slice(0, 32_768)), 0)).toMatchObject({ message: SPENT });
  });
});
