import { describe, expect, it } from '@jest/globals';
import { goalLine } from '../../bench/support/figures.js';
import { oneOf, parseOptions, someOf } from '../../bench/support/options.js';

const KINDS = {
  rounds: 3,
  connections: [32, 128],
  only: someOf(['a', 'b']),
  none: someOf(['a', 'b'], { orNone: true }),
  queue: oneOf('embedded', 'redis'),
  profile: null,
  json: false,
} as const;

describe('bench/support/options', () => {
  it('takes the defaults', () => {
    expect(parseOptions([], KINDS)).toEqual({
      rounds: 3,
      connections: [32, 128],
      only: ['a', 'b'],
      none: ['a', 'b'],
      queue: 'embedded',
      profile: null,
      json: false,
    });
  });

  it('takes what is given', () => {
    const given = ['--rounds', '1', '--connections', '1,2', '--only', 'b', '--none', '', '--queue', 'redis'];

    expect(parseOptions([...given, '--profile', 'x', '--json'], KINDS)).toEqual({
      rounds: 1,
      connections: [1, 2],
      only: ['b'],
      none: [],
      queue: 'redis',
      profile: 'x',
      json: true,
    });
  });

  it.each([[['--help']], [['-h', '--rounds', 'x']]])('%j => asks for help', (args) => {
    expect(parseOptions(args, KINDS)).toBeNull();
  });

  it.each([
    ['--rounds 0', '--rounds takes whole numbers from 1'],
    ['--rounds 1.5', '--rounds takes whole numbers from 1'],
    ['--rounds=', '--rounds takes whole numbers from 1'],
    ['--connections 1,x', '--connections takes whole numbers from 1'],
    ['--only a,c', '--only takes a, b'],
    ['--only=', '--only takes a, b'],
    ['--queue bull', '--queue takes embedded, redis'],
    ['--nothing', "Unknown option '--nothing'"],
  ])('%s => %s', (args, message) => {
    expect(() => parseOptions(args.split(' '), KINDS)).toThrow(message);
  });
});

describe('bench/support/figures', () => {
  it.each([
    [{ atLeast: 1.2 }, 1.2345, 'wanted 1.2, measured 1.23, met'],
    [{ atMost: 0.15 }, 0.154, 'wanted 0.15, measured 0.154, missed'],
    [{ atMost: 0.15 }, 0.15, 'wanted 0.15, measured 0.150, met'],
    [{ atMost: 40 }, 40.2, 'wanted 40.0, measured 40.20, missed'],
    [{ atLeast: 1.1 }, null, 'wanted 1.1, not measured'],
    [{ atLeast: 1.1 }, NaN, 'wanted 1.1, not measured'],
  ])('%j and %p => %s', (wanted, measured, told) => {
    expect(goalLine({ name: 'g', wanted, measured })).toBe(`goal g: ${told}`);
  });
});
