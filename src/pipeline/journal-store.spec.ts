import { describe, expect, it } from '@jest/globals';
import { coalescedReason, isHeldByLimit, limitReason } from './journal-store.port.js';

describe('pipeline/journal-store', () => {
  it('says how often a rule fired, and how often it may', () => {
    expect([limitReason(1, 1), limitReason(12, 10)]).toEqual([
      'held: 1 run in the last hour, the limit is 1 (limits.runs_per_hour)',
      'held: 12 runs in the last hour, the limit is 10 (limits.runs_per_hour)',
    ]);
  });

  it('knows a run that its limit held by its state and by both ends of its reason', () => {
    const reason = limitReason(3, 2);

    expect(isHeldByLimit({ state: 'error', reason })).toBe(true);
    expect(isHeldByLimit({ state: 'not-fired', reason })).toBe(false);
    expect(isHeldByLimit({ state: 'error', reason: 'held: over its cap' })).toBe(false);
    expect(isHeldByLimit({ state: 'error', reason: `a word before: ${reason}` })).toBe(false);
    expect(isHeldByLimit({ state: 'error', reason: `${reason}; a word after` })).toBe(false);
  });

  it('says which run decides in the place of another', () => {
    expect(coalescedReason('run-9', 'acme/app main')).toBe(
      'coalesced: run run-9 decides for all of key "acme/app main" in this window',
    );
  });
});
