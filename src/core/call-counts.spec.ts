import { describe, expect, it } from '@jest/globals';
import { callsMade, countsInWords, sumOf } from './call-counts.js';

describe('core/call-counts', () => {
  it('adds up what the results of intents tell', () => {
    const made = callsMade([
      null,
      { calls: { createLabel: 1, listLabels: 1 } },
      { summary: 'x' },
      { calls: { listLabels: 2 } },
    ]);

    expect([made, sumOf(made)]).toEqual([{ createLabel: 1, listLabels: 3 }, 4]);
  });

  it('tells the commonest first', () => {
    expect(countsInWords({ b: 1, a: 1, c: 7 }, (name) => name)).toBe('c: 7, a: 1, b: 1');
  });
});
