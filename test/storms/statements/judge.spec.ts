import { describe, expect, it } from '@jest/globals';
import { exceptionOf, faultsOf, growingTables } from './judge.js';

const played = (buffers: number, ...scans: string[]) => ({ buffers, scans });
const GROWING = { large: new Set(['runs']), embedded: new Set(['runs']) };

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
    expect(faultsOf({ small, large, embedded: played(0) }, GROWING)).toEqual(faults);
  });

  it('holds the embedded store to its scans alone', () => {
    const of = (embedded: string, large = 'operators') =>
      faultsOf({ small: played(1), large: played(2, large), embedded: played(900, embedded) }, GROWING);

    expect(of('runs')).toEqual(['reads all of runs in the embedded store']);
    expect(of('runs', 'runs')).toEqual(['reads all of runs']);
    expect(of('operators')).toEqual([]);
  });

  it('finds what was never played', () => {
    expect(faultsOf({ small: null, large: null, embedded: null }, GROWING)).toEqual(['was never played']);
  });

  it('lets pass what is named', () => {
    const exceptions = [{ has: 'FROM everything', because: 'a backup' }];

    expect(exceptionOf('SELECT 1 FROM everything', exceptions)?.because).toBe('a backup');
    expect(exceptionOf('SELECT 1', exceptions)).toBeUndefined();
  });
});
