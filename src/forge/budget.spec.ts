import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { callingAs, currentCaller } from '../core/caller.js';
import { createBudget, WaitStopped, CallPace } from './budget.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';

afterEach(() => {
  jest.useRealTimers();
});

const later = (): { promise: Promise<void>; end: () => void } => {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end: () => end() };
};

describe('forge/budget', () => {
  it('begins no more calls in a second than its rate, and the rest afterwards', async () => {
    jest.useFakeTimers();
    const budget = createBudget({ concurrency: 100, ratePerS: 3, clock: new ManualClock() });
    let begun = 0;
    for (let at = 0; at < 8; at += 1) void budget.take(() => Promise.resolve((begun += 1)));

    await jest.advanceTimersByTimeAsync(900);
    expect(begun).toBe(3);
    await jest.advanceTimersByTimeAsync(1000);
    expect(begun).toBe(6);
    await jest.advanceTimersByTimeAsync(1000);

    expect(begun).toBe(8);
  });

  it('makes a call every so many seconds when its rate is below one', async () => {
    jest.useFakeTimers();
    const budget = createBudget({ concurrency: 1, ratePerS: 0.5, clock: new ManualClock() });
    let begun = 0;
    for (let at = 0; at < 3; at += 1) void budget.take(() => Promise.resolve((begun += 1)));

    await jest.advanceTimersByTimeAsync(1900);
    expect(begun).toBe(1);
    await jest.advanceTimersByTimeAsync(200);

    expect(begun).toBe(2);
  });

  it('lets a call go that is stopped while it waits, and never begins it', async () => {
    const budget = createBudget({ concurrency: 1, ratePerS: 1000, clock: new ManualClock() });
    const first = later();
    const stop = new AbortController();
    let begun = false;
    const running = budget.take(() => first.promise);
    const waiting = budget.take(() => Promise.resolve((begun = true)), stop.signal);

    stop.abort();

    await expect(waiting).rejects.toBeInstanceOf(WaitStopped);
    first.end();
    await running;
    await budget.take(() => Promise.resolve());
    expect(begun).toBe(false);
  });

  it('leaves a call alone that is under way when its signal comes', async () => {
    const budget = createBudget({ concurrency: 1, ratePerS: 1000, clock: new ManualClock() });
    const work = later();
    const begun = later();
    const stop = new AbortController();
    const running = budget.take(() => (begun.end(), work.promise.then(() => 'done')), stop.signal);
    await begun.promise;

    stop.abort();
    work.end();

    await expect(running).resolves.toBe('done');
  });

  it('begins the call of who is waited for before those of housekeeping, each as its own caller', async () => {
    jest.useFakeTimers();
    const budget = createBudget({ concurrency: 1, ratePerS: 1, clock: new ManualClock() });
    const begun: string[] = [];
    const ask = (priority: 'webhook' | 'housekeeping', org: string): unknown =>
      callingAs({ priority, org }, () =>
        budget.take(async () => void begun.push(`${currentCaller()?.priority} of ${currentCaller()?.org}`)),
      );
    for (let n = 0; n < 3; n += 1) ask('housekeeping', 'acme');
    ask('webhook', 'umbrella');

    await jest.advanceTimersByTimeAsync(3_500);

    expect(begun).toEqual([
      'housekeeping of acme',
      'webhook of umbrella',
      'housekeeping of acme',
      'housekeeping of acme',
    ]);
  });

  it('asks more slowly for a while after the forge said "too many"', async () => {
    jest.useFakeTimers();
    const budget = createBudget({ concurrency: 1, ratePerS: 10, clock: new ManualClock() });
    let begun = 0;
    budget.turnedAway(1);
    for (let at = 0; at < 30; at += 1) void budget.take(() => Promise.resolve((begun += 1)));

    await jest.advanceTimersByTimeAsync(900);

    expect(begun).toBe(5);
  });

  it('passes a failure on and goes on with the next call', async () => {
    const budget = createBudget({ concurrency: 1, ratePerS: 1000, clock: new ManualClock() });

    await expect(budget.take(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(budget.take(() => Promise.resolve(1))).resolves.toBe(1);
  });

  it('counts a pause down by the growing clock, and never cuts a longer one', () => {
    const clock = new ManualClock();
    const budget = createBudget({ concurrency: 1, ratePerS: 1, clock });

    budget.turnedAway(60);
    budget.turnedAway(5);
    clock.setWall('2030-01-01T00:00:00Z');
    expect(budget.pausedForMs()).toBe(60_000);
    clock.advance(59_500);

    expect(budget.pausedForMs()).toBe(500);
    clock.advance(500);
    expect(budget.pausedForMs()).toBe(0);
  });

  it('pauses for a second when no time was named, longer the longer it lasts, and soon ends with it', () => {
    const clock = new ManualClock();
    const budget = createBudget({ concurrency: 1, ratePerS: 1, clock });
    const refusals: number[] = [];
    for (let at = 0; at < 60; at += refusals.at(-1) ?? 0) {
      refusals.push(budget.turnedAway());
      clock.advance(budget.pausedForMs());
    }

    expect(refusals[0]).toBe(1);
    expect(Math.max(...refusals)).toBe(5);
    clock.advance(3_600_000);
    expect(budget.turnedAway()).toBe(30);
    budget.answered();
    expect(budget.turnedAway()).toBe(1);
  });
});

const make = (): CallPace => new CallPace({ concurrency: 8, ratePerS: 16 });

describe('forge/call-pace', () => {
  it('asks half as fast after each refusal, and never less than an eighth', () => {
    const pace = make();
    const rates = [0, 2_000, 4_000, 6_000, 8_000].map((at) => (pace.turnedAway(at), pace.allowed().ratePerS));

    expect(rates).toEqual([8, 4, 2, 2, 2]);
  });

  it('counts what is refused within one second once', () => {
    const pace = make();
    for (const at of [0, 10, 500, 999]) pace.turnedAway(at);

    expect(pace.allowed().ratePerS).toBe(8);
  });

  it('gets its rate back with the seconds in which it is answered, not with the waiting', () => {
    const pace = make();
    pace.turnedAway(0);
    pace.answered(60_000, 10);
    expect(pace.allowed().ratePerS).toBe(9);

    for (let second = 1; second <= 20; second += 1) pace.answered(60_000 + second * 1_000, 10);

    expect(pace.allowed().ratePerS).toBe(16);
  });

  it('makes fewer calls at once while answers take much longer than usual, one at least, and all of them again afterwards', () => {
    const pace = make();
    let at = 0;
    const answers = (count: number, tookMs: number): number => {
      for (let n = 0; n < count; n += 1) pace.answered((at += 500), tookMs);
      return pace.allowed().concurrency;
    };
    expect(answers(100, 50)).toBe(8);
    expect(answers(4, 5_000)).toBe(4);
    expect(answers(8, 5_000)).toBe(1);

    expect(answers(100, 50)).toBe(8);
  });

  it('takes no notice of answers that are always slow, or that nobody minds', () => {
    const slow = make();
    for (let at = 0; at < 100; at += 1) slow.answered(at * 500, 3_000);
    const quick = make();
    for (let at = 0; at < 100; at += 1) quick.answered(at * 500, at < 50 ? 10 : 400);

    expect([slow.allowed().concurrency, quick.allowed().concurrency]).toEqual([8, 8]);
  });
});
