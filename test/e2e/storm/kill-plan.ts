import type { SeededRandom } from '../../../src/core/seeded-random.js';

/** When to kill: after so many acknowledgements, so many milliseconds later. Drawn over the whole storm, ends left out. */
export function killPlan(random: SeededRandom, kills: number, deliveries: number): Array<{ after: number; delayMs: number }> {
  const part = deliveries / (kills + 1);
  // One in each part of the storm: two at once would be one.
  return Array.from({ length: kills }, (_, n) => ({ after: Math.floor(part * (n + 0.25 + 0.75 * random.next())), delayMs: random.below(25) }));
}
