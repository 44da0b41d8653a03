import { describe, expect, it } from '@jest/globals';
import { NewestMap } from './newest-map.js';

describe('core/newest-map', () => {
  it('forgets the oldest, and takes what is set again for new', () => {
    const map = new NewestMap<string, number>(2);

    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);

    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });
});
