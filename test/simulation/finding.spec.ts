import { describe, expect, it } from '@jest/globals';
import { findingsOf, replayOf } from './finding.js';

describe('simulation/finding', () => {
  const violation = {
    invariant: 3,
    what: 'createLabel 7 bug: 2 effects of one intent',
    atMs: Date.parse('2026-11-20T12:00:01.500Z'),
  };

  it('says nothing of a seed that broke nothing', () => {
    expect(findingsOf({ seed: 7, violations: [] }, null)).toEqual([]);
  });

  it('tells what broke and when, and what plays it again', () => {
    expect(
      findingsOf({ seed: 7, violations: [violation, { ...violation, invariant: 2, what: 'more' }] }, null),
    ).toEqual([
      'seed 7: invariant 3 broken at 2026-11-20T12:00:01.500Z: createLabel 7 bug: 2 effects of one intent',
      'seed 7: invariant 2 broken at 2026-11-20T12:00:01.500Z: more',
      'seed 7 again: npm run storms -- simulation --seed 7',
    ]);
  });

  it('plants the same bug again, whatever its name is made of', () => {
    expect(replayOf(12, { name: 'no settle time' })).toBe(
      "npm run storms -- simulation --seed 12 --bug 'no settle time'",
    );
    expect(replayOf(12, { name: 'it\'s "seen"' })).toBe(
      `npm run storms -- simulation --seed 12 --bug 'it'\\''s "seen"'`,
    );
  });
});
