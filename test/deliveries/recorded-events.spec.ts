import { describe, expect, it } from '@jest/globals';
import { eventDigests, readEventDigests } from './event-digests.js';
import { hasFullSet } from './recorded-shapes.js';

describe('deliveries/recorded-events', () => {
  const now = eventDigests();
  const kept = readEventDigests();

  it('makes of every recorded delivery and row the event that it always made', () => {
    expect(Object.entries(now).filter(([arrival, told]) => kept[arrival] !== told)).toEqual([]);
    expect(Object.keys(now).length).toBeGreaterThan(300);
  });

  (hasFullSet ? it : it.skip)('knows every arrival of the full set', () => {
    expect(Object.keys(now)).toEqual(Object.keys(kept));
  });
});
