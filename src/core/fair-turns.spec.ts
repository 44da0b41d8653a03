import { describe, expect, it } from '@jest/globals';
import { FairTurns } from './fair-turns.js';

describe('core/fair-turns', () => {
  it('takes what waits from one after another, of each in the order it came', () => {
    const turns = new FairTurns<number>();
    for (const n of [1, 2, 3]) turns.add('acme', n);
    turns.add('beta', 10);
    turns.add('gamma', 20);

    expect([turns.size, turns.owners, turns.of('acme'), turns.of('nobody')]).toEqual([5, 3, 3, 0]);
    expect([1, 2, 3, 4, 5, 6].map(() => turns.take())).toEqual([1, 10, 20, 2, 3, undefined]);
    expect([turns.size, turns.owners]).toEqual([0, 0]);
  });
});
