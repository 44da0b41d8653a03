import { describe, expect, it } from '@jest/globals';
import { PassingMap, PassingSet } from './passing.js';

describe('platform/passing', () => {
  it('is a map, however many passed through', () => {
    const map = new PassingMap<number, string>();
    for (let n = 0; n < 1_000; n += 1) {
      map.set(n, `value ${n}`);
      if (n >= 3) expect(map.delete(n - 3)).toBe(true);
    }

    expect([...map]).toEqual([
      [997, 'value 997'],
      [998, 'value 998'],
      [999, 'value 999'],
    ]);
    expect([map.size, map.has(996), map.has(997), map.get(999), map.delete(5)]).toEqual([
      3,
      false,
      true,
      'value 999',
      false,
    ]);
    expect([[...map.keys()], [...map.values()].length]).toEqual([[997, 998, 999], 3]);
    map.clear();
    expect([map.size, map.get(999)]).toEqual([0, undefined]);
  });

  it('is a set in the order of adding, however many passed through', () => {
    const set = new PassingSet<number>();
    for (let n = 0; n < 1_000; n += 1) {
      set.add(n);
      if (n >= 3) expect(set.delete(n - 3)).toBe(true);
    }

    expect([[...set], set.size, set.has(996), set.has(998), set.delete(5)]).toEqual([
      [997, 998, 999],
      3,
      false,
      true,
      false,
    ]);
  });
});
