import { describe, expect, it } from '@jest/globals';
import { fuzz, readSamples } from '../fuzz/fuzz.js';
import { MUTATIONS } from '../fuzz/mutations.js';

/** Of the million that `npm run storms -- fuzz` plays. */
const COUNT = 1_500;

describe('reliability/fuzzing', () => {
  it('gives every spoilt delivery a documented outcome, throws never, and keeps the bytes that were sent', () => {
    const { counts, outcomes, crashes } = fuzz(readSamples(), 1, COUNT);

    expect(crashes).toEqual([]);
    expect([...counts.keys()].sort()).toEqual(Object.keys(MUTATIONS).sort());
    // Each class of answer is hit, the event at the end of the way among them.
    for (const outcome of [
      'event',
      'of another organization',
      'not authentic',
      'misfit',
      'unknown_kind',
      'not_json',
      'not_utf8',
      'key_twice',
      'no_event_type',
    ])
      expect([outcome, (outcomes.get(outcome) ?? 0) > 0]).toEqual([outcome, true]);
  });

  it('finds a fault, and its seed finds it again', () => {
    const broken = [{ eventType: 'push', event: 'push', text: '{ no JSON' }];
    const [first] = fuzz(broken, 1, 50).crashes;

    expect(first?.what).toContain('JSON');
    expect(fuzz(broken, first?.seed ?? 0, 1).crashes).toMatchObject([{ seed: first?.seed, mutation: first?.mutation }]);
  });
});
