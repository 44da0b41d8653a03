import { describe, expect, it } from '@jest/globals';
import { simulate } from '../simulation/simulate.js';

/** Few, and in small groups: each mutant that they see is run by them until the first one fails. */
const GROUPS = 4;
const SEEDS_PER_GROUP = 4;

describe('the simulation', () => {
  it.each(Array.from({ length: GROUPS }, (_, group) => 1 + group * SEEDS_PER_GROUP))(
    'breaks nothing from seed %d on',
    async (first) => {
      for (let seed = first; seed < first + SEEDS_PER_GROUP; seed += 1) expect((await simulate(seed)).violations).toEqual([]);
    },
    300_000,
  );
});
