import { describe, expect, it } from '@jest/globals';
import { RecentlyProcessed } from './recently-processed.js';

describe('pipeline/decide/recently-processed', () => {
  it('knows what it was told, and nothing else', () => {
    const done = new RecentlyProcessed();
    done.add('a');

    expect([done.has('a'), done.has('b')]).toEqual([true, false]);
  });

  it('keeps the newest ten thousand', () => {
    const done = new RecentlyProcessed();
    for (let n = 1; n <= 10_000; n += 1) done.add(String(n));
    expect([done.has('1'), done.has('10000')]).toEqual([true, true]);

    done.add('10001');

    expect([done.has('1'), done.has('2'), done.has('10001')]).toEqual([false, true, true]);
  });
});
