import { describe, expect, it } from '@jest/globals';
import { aimedAt, POINTS } from './points.js';
import { firstOfToday, ROTATING_SEEDS } from './rotation.js';

describe('simulation/rotation', () => {
  const morning = Date.parse('2026-11-23T00:00:00Z');
  const evening = Date.parse('2026-11-23T23:59:59Z');

  it('plays the same seeds all day, and the next ones tomorrow', () => {
    const today = firstOfToday(morning, '');

    expect(firstOfToday(evening, '')).toBe(today);
    expect(firstOfToday(evening + 1_000, '')).toBe(today + ROTATING_SEEDS);
  });

  it('starts at the seed that is given', () => {
    expect(firstOfToday(morning, '7')).toBe(7);
  });

  it('aims at every point, wherever it starts', () => {
    const first = firstOfToday(morning, '');
    const aimed = Array.from({ length: ROTATING_SEEDS }, (_, n) => aimedAt(first + n));

    expect([...aimed].sort()).toEqual([...POINTS].sort());
  });
});
