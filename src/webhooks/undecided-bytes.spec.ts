import { describe, expect, it } from '@jest/globals';
import type { HookBytes } from '../pipeline/inbox-store.port.js';
import { UndecidedBytes } from './byte-budgets.js';

function counting(limits = { bytes: 1000, bytesPerHook: 600 }) {
  let now = 0;
  let counts = 0;
  const answer: { bytes: HookBytes[]; tookMs: number; fault: Error | null } = { bytes: [], tookMs: 0, fault: null };
  const undecidedBytes = async (): Promise<HookBytes[]> => {
    counts += 1;
    now += answer.tookMs;
    if (answer.fault) throw answer.fault;
    return answer.bytes;
  };
  return {
    undecided: new UndecidedBytes({ undecidedBytes }, limits, { monotonicMs: () => now }),
    answer,
    count: () => counts,
    pass: (ms: number) => void (now += ms),
  };
}

describe('webhooks/undecided-bytes', () => {
  it('is full for a hook that has its share, and for the others not', async () => {
    const { undecided, answer } = counting();
    answer.bytes = [{ hook: 'acme', bytes: 600 }];

    await undecided.count();

    expect([undecided.isFull('acme'), undecided.isFull('globex')]).toEqual([true, false]);
  });

  it('is full for all when all is taken', async () => {
    const { undecided, answer } = counting();
    answer.bytes = [
      { hook: 'acme', bytes: 500 },
      { hook: 'globex', bytes: 500 },
    ];

    await undecided.count();

    expect(undecided.isFull('initech')).toBe(true);
  });

  it('adds what is stored between two counts, and is rid of it when it is decided', async () => {
    const { undecided, answer, pass } = counting();

    undecided.stored('acme', 599);
    expect(undecided.isFull('acme')).toBe(false);
    undecided.stored('acme', 1);
    expect(undecided.isFull('acme')).toBe(true);
    answer.bytes = [];
    pass(2_000);
    await undecided.count();

    expect(undecided.isFull('acme')).toBe(false);
  });

  it('goes on with what it knew while a count runs', async () => {
    const { undecided } = counting();
    undecided.stored('acme', 600);

    const counted = undecided.count();
    expect(undecided.isFull('acme')).toBe(true);
    await counted;

    expect(undecided.isFull('acme')).toBe(false);
  });

  it('goes on with what it knew when a count fails', async () => {
    const { undecided, answer } = counting();
    undecided.stored('acme', 600);
    answer.fault = new Error('away');

    await expect(undecided.count()).rejects.toThrow('away');

    expect(undecided.isFull('acme')).toBe(true);
  });

  it('counts more seldom where a count takes long', async () => {
    const { undecided, answer, count, pass } = counting();
    answer.tookMs = 200;

    await undecided.count();
    pass(9_000);
    await undecided.count();
    expect(count()).toBe(1);
    pass(2_000);
    await undecided.count();

    expect(count()).toBe(2);
  });
});
