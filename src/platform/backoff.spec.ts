import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { Backoff, backoffMs, type Growth } from './backoff.js';

describe('platform/backoff', () => {
  it('waits longer after each failure, up to five minutes, and forgets when cleared', () => {
    const clock = new ManualClock();
    const backoff = new Backoff(clock);

    const waits = Array.from({ length: 9 }, () => backoff.fail('x'));
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000]);
    expect(backoff.isWaiting('x')).toBe(true);
    expect(backoff.isWaiting('y')).toBe(false);
    clock.advance(300_000);
    expect(backoff.isWaiting('x')).toBe(false);

    backoff.clear('x');

    expect(backoff.fail('x')).toBe(2_000);
  });

  it('comes back no earlier than it was asked to', () => {
    expect(new Backoff(new ManualClock()).fail('x', 30)).toBe(30_000);
  });

  it('waits five minutes at most, whatever the forge asks for', () => {
    expect(new Backoff(new ManualClock()).fail('x', 3_600)).toBe(300_000);
  });

  it('forgets the one that was not asked about for the longest rather than knowing more than ten thousand', () => {
    const backoff = new Backoff(new ManualClock());
    for (let n = 0; n < 10_000; n += 1) backoff.fail(`id-${n}`);
    expect([backoff.isWaiting('id-0'), backoff.isWaiting('id-9999')]).toEqual([true, true]);

    expect(backoff.fail('one more')).toBe(2_000);

    const ids = ['id-0', 'id-1', 'id-9999', 'one more'];
    expect(ids.map((id) => backoff.isWaiting(id))).toEqual([true, false, true, true]);
  });
});

describe('platform/backoff: waits that grow', () => {
  it.each<[number, Growth, number]>([
    [0, { firstMs: 100 }, 100],
    [3, { firstMs: 100 }, 800],
    [2, { firstMs: 100, factor: 4 }, 1_600],
    [9, { firstMs: 100, maxMs: 5_000 }, 5_000],
    [5_000, { firstMs: 100, maxMs: 5_000 }, 5_000],
  ])('after %d failures, %j: %d ms', (failures, growth, waitMs) => {
    expect(backoffMs(failures, growth)).toBe(waitMs);
  });

  it.each([
    [0, 500],
    [0.5, 750],
    [1, 1_000],
  ])('lies by chance %d between two shares of it: %d ms', (chance, waitMs) => {
    expect(backoffMs(0, { firstMs: 1_000, between: [0.5, 1] }, () => chance)).toBe(waitMs);
  });
});
