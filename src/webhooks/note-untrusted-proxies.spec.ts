import { describe, expect, it } from '@jest/globals';
import { silentLogger } from '../core/logger.js';
import { NoteUntrustedProxies } from './connections.js';

function noting() {
  let now = 0;
  const kept: string[] = [];
  const store = { saw: async ({ address }: { address: string }) => void kept.push(address) };
  const clock = { now: () => new Date(now), monotonicMs: () => now };
  return { notes: new NoteUntrustedProxies(store, clock, silentLogger), kept, pass: (ms: number) => void (now += ms) };
}

describe('webhooks/note-untrusted-proxies', () => {
  it('keeps a proxy once, and again after an hour', () => {
    const { notes, kept, pass } = noting();

    for (const ms of [0, 1_000, 3_600_000]) {
      pass(ms);
      notes.note('10.0.0.7');
    }

    expect(kept).toEqual(['10.0.0.7', '10.0.0.7']);
  });

  it('keeps sixteen and no more', () => {
    const { notes, kept } = noting();

    for (let n = 0; n < 100; n += 1) notes.note(`10.0.0.${n}`);

    expect(kept).toHaveLength(16);
  });
});
