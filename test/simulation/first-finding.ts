import type { Bug } from './bugs.js';
import { simulate, type SeedResult } from './simulate.js';

/** Seeds that are tried for a planted bug; most are found within 60. */
export const MOST_TRIED = 1_000;

/** The first seed that shows a planted bug by an invariant that it breaks; null when none of them does. */
export async function firstFinding(bug: Bug): Promise<SeedResult | null> {
  for (let seed = 1; seed <= MOST_TRIED; seed += 1) {
    const result = await simulate(seed, { bug });
    const [first] = result.violations;
    if (first && bug.breaks.includes(first.invariant)) return result;
  }
  return null;
}
