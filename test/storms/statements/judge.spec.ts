import { describe, expect, it } from '@jest/globals';
import { exceptionOf, faultsOf, growingTables } from './judge.js';

const played = (buffers: number, ...scans: string[]) => ({ buffers, scans });

describe('storms/statements: judge', () => {
  it('takes tables for growing where the larger store has more rows, and not only a few', () => {
    const small = new Map([
      ['runs', 400],
      ['operators', 20],
      ['plans', 10],
    ]);
    const large = new Map([
      ['runs', 2_000],
      ['operators', 20],
      ['plans', 50],
    ]);

    expect([...growingTables(small, large)]).toEqual(['runs']);
  });

  it.each([
    ['a cost that stays', played(10), played(12), []],
    ['twice as much and a little', played(10), played(40), []],
    ['more than that', played(10), played(41), ['10 buffers become 41']],
    ['a scan of what grows', played(9), played(12, 'runs'), ['reads all of runs']],
    ['a scan of what does not', played(9), played(12, 'operators'), []],
  ])('judges %s', (_title, small, large, faults) => {
    expect(faultsOf({ small, large }, new Set(['runs']))).toEqual(faults);
  });

  it('finds what was never played', () => {
    expect(faultsOf({ small: null, large: null }, new Set())).toEqual(['was never played']);
  });

  it('lets pass what is named', () => {
    const exceptions = [{ has: 'FROM everything', because: 'a backup' }];

    expect(exceptionOf('SELECT 1 FROM everything', exceptions)?.because).toBe('a backup');
    expect(exceptionOf('SELECT 1', exceptions)).toBeUndefined();
  });
});
