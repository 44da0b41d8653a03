import { describe, expect, it } from '@jest/globals';
import type { CallPriority } from '../core/caller.js';
import { CallSchedule, type Allowance } from './budget.js';

interface Call {
  readonly name: string;
}

/** A schedule with its clock: calls end `tookMs` after they began. */
class Hour {
  readonly schedule = new CallSchedule<Call>();
  readonly begun: Array<{ name: string; atMs: number }> = [];
  nowMs = 0;
  private running: Array<{ call: Call; endsAtMs: number }> = [];

  constructor(
    private readonly allowance: Allowance,
    private readonly tookMs = 1,
  ) {}

  ask(priority: CallPriority, name: string, org: string | null = 'acme'): Call {
    const call = { name };
    this.schedule.add(call, { priority, org });
    return call;
  }

  /** What begins until so many ms have passed. */
  pass(ms: number): string[] {
    const [before, endMs] = [this.begun.length, this.nowMs + ms];
    for (;;) {
      const next = this.schedule.next(this.nowMs, this.allowance);
      if (next && 'begin' in next) {
        this.begun.push({ name: next.begin.name, atMs: this.nowMs });
        this.running.push({ call: next.begin, endsAtMs: this.nowMs + this.tookMs });
        continue;
      }
      const wake = Math.min(
        next === null ? Number.POSITIVE_INFINITY : this.nowMs + next.againInMs,
        ...this.running.map(({ endsAtMs }) => endsAtMs),
        endMs,
      );
      if (wake >= endMs) {
        this.nowMs = endMs;
        return this.begun.slice(before).map(({ name }) => name);
      }
      this.nowMs = wake;
      this.running = this.running.filter(({ call, endsAtMs }) => endsAtMs > wake || void this.schedule.ended(call));
    }
  }
}

const many = (hour: Hour, priority: CallPriority, count: number, org?: string): void => {
  for (let n = 0; n < count; n += 1) hour.ask(priority, `${org ?? priority} ${n}`, org ?? 'acme');
};

const counts = (names: readonly string[]): Record<string, number> =>
  names.reduce<Record<string, number>>(
    (sums, name) => ({ ...sums, [name.split(' ')[0] ?? '']: (sums[name.split(' ')[0] ?? ''] ?? 0) + 1 }),
    {},
  );

describe('forge/call-schedule', () => {
  it('begins a call of an upper priority before ten thousand that wait in a lower one', () => {
    const hour = new Hour({ concurrency: 4, ratePerS: 5 });
    many(hour, 'housekeeping', 10_000);
    hour.pass(10_000);

    hour.ask('webhook', 'effect');

    expect(hour.pass(201)[0]).toBe('effect');
  });

  it('lets at most one call of housekeeping in between two that follow each other in an upper priority', () => {
    const hour = new Hour({ concurrency: 4, ratePerS: 5 });
    many(hour, 'housekeeping', 10_000);
    hour.pass(3_000);
    let between = 0;
    for (let n = 0; n < 20; n += 1) {
      hour.ask('webhook', `effect ${n}`);
      const before = hour.begun.length;
      while (!hour.begun.some(({ name }) => name === `effect ${n}`)) hour.pass(10);
      between = Math.max(
        between,
        hour.begun.slice(before).findIndex(({ name }) => name === `effect ${n}`),
      );
    }

    expect(between).toBeLessThanOrEqual(1);
  });

  it.each<[CallPriority, number]>([
    ['webhook', 2_000],
    ['interactive', 2_000],
  ])(
    'ends 95 of 100 chains of four %s calls within %d ms of its clock, while ten thousand calls of housekeeping and the polls wait at 5 a second',
    (priority, most) => {
      const hour = new Hour({ concurrency: 4, ratePerS: 5 }, 20);
      many(hour, 'housekeeping', 10_000);
      many(hour, 'poll', 1_000);
      hour.pass(3_000);
      const [took, background]: [number[], number[]] = [[], []];
      for (let n = 0; n < 100; n += 1) {
        // At another moment of the second each time.
        hour.pass(1_500 + ((n * 137) % 1_000));
        const [fromMs, from] = [hour.nowMs, hour.begun.length];
        for (const call of ['look', 'list', 'compare', 'write']) {
          hour.ask(priority, `${call} ${n}`);
          let seen = hour.begun.length;
          for (let isBegun = false; !isBegun; seen = hour.begun.length) {
            hour.pass(10);
            isBegun = hour.begun.slice(seen).some(({ name }) => name === `${call} ${n}`);
          }
        }
        took.push(hour.nowMs + 20 - fromMs);
        background.push(counts(hour.begun.slice(from).map(({ name }) => name))['housekeeping'] ?? 0);
      }

      expect(took.filter((ms) => ms > most).length).toBeLessThanOrEqual(5);
      // Four calls in a row are held up by fewer of the others than there are calls in the chain.
      expect(Math.max(...background)).toBeLessThanOrEqual(3);
      expect(hour.schedule.waiting('housekeeping')).toBeGreaterThan(9_000);
      expect(hour.schedule.waiting('housekeeping')).toBeLessThan(10_000);
    },
  );

  it('starves no priority while all of them are pressed', () => {
    const hour = new Hour({ concurrency: 8, ratePerS: 27 });
    for (const priority of ['interactive', 'webhook', 'poll', 'housekeeping'] as const) many(hour, priority, 2_000);

    const begun = counts(hour.pass(20_000));

    expect(begun).toMatchObject({ interactive: expect.any(Number), webhook: expect.any(Number) });
    expect(begun['housekeeping']).toBeGreaterThanOrEqual(18);
    expect(begun['poll']).toBeGreaterThanOrEqual(36);
    expect(begun['interactive'] ?? 0).toBeGreaterThan(begun['webhook'] ?? 0);
  });

  it('serves organizations in turn, however many calls one of them has waiting', () => {
    const hour = new Hour({ concurrency: 4, ratePerS: 10 });
    many(hour, 'webhook', 1_000, 'large');
    many(hour, 'webhook', 5, 'small');
    many(hour, 'webhook', 5, 'tiny');

    expect(counts(hour.pass(1))).toEqual({ large: 2, small: 1, tiny: 1 });
  });

  it('keeps the order in which one organization asked', () => {
    const hour = new Hour({ concurrency: 1, ratePerS: 1000 });
    many(hour, 'webhook', 4);

    expect(hour.pass(1_000)).toEqual(['webhook 0', 'webhook 1', 'webhook 2', 'webhook 3']);
  });

  it('lets a quiet forge answer a burst at once, and begins no more calls in any second than the rate', () => {
    const hour = new Hour({ concurrency: 100, ratePerS: 5 });
    many(hour, 'webhook', 23);

    expect(hour.pass(1)).toHaveLength(5);
    hour.pass(10_000);

    const times = hour.begun.map(({ atMs }) => atMs);
    expect(times).toHaveLength(23);
    const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
    expect(most).toBe(5);
  });

  it('paces housekeeping evenly, so that it never takes the calls of a second in one go', () => {
    const hour = new Hour({ concurrency: 4, ratePerS: 5 });
    many(hour, 'housekeeping', 10);
    hour.pass(10_000);

    expect(hour.begun.map(({ atMs }) => atMs)).toEqual([0, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800]);
  });

  it('leaves one place free for those who are waited for', () => {
    const hour = new Hour({ concurrency: 4, ratePerS: 1000 }, 60_000);
    many(hour, 'housekeeping', 10);
    expect(hour.pass(1_000)).toHaveLength(3);

    hour.ask('webhook', 'effect');

    expect(hour.pass(1)).toEqual(['effect']);
  });

  it('makes a call every so many seconds when the rate is below one', () => {
    const hour = new Hour({ concurrency: 4, ratePerS: 0.5 });
    many(hour, 'webhook', 3);
    hour.pass(10_000);

    expect(hour.begun.map(({ atMs }) => atMs)).toEqual([0, 2_000, 4_000]);
  });

  it('forgets a call that does not want its turn any more', () => {
    const hour = new Hour({ concurrency: 1, ratePerS: 1000 });
    const gone = hour.ask('webhook', 'gone');
    hour.ask('webhook', 'there');

    hour.schedule.remove(gone);

    expect(hour.pass(1_000)).toEqual(['there']);
    expect(hour.schedule.waiting()).toBe(0);
  });
});
