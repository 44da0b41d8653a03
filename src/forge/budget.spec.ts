import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { callingAs, currentCaller } from '../core/caller.js';
import { createBudget, WaitStopped } from './budget.js';

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
    const ask = (lane: 'webhook' | 'housekeeping', org: string): unknown =>
      callingAs({ lane, org }, () =>
        budget.take(async () => void begun.push(`${currentCaller()?.lane} of ${currentCaller()?.org}`)),
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
    expect(budget.pausedForS()).toBe(60);
    clock.advance(59_500);

    expect(budget.pausedForS()).toBe(1);
    clock.advance(500);
    expect(budget.pausedForS()).toBe(0);
  });

  it('pauses for a second when no time was named, longer the longer it lasts, and soon ends with it', () => {
    const clock = new ManualClock();
    const budget = createBudget({ concurrency: 1, ratePerS: 1, clock });
    const refusals: number[] = [];
    for (let at = 0; at < 60; at += refusals.at(-1) ?? 0) {
      refusals.push(budget.turnedAway());
      clock.advance(budget.pausedForS() * 1_000);
    }

    expect(refusals[0]).toBe(1);
    expect(Math.max(...refusals)).toBe(5);
    clock.advance(3_600_000);
    expect(budget.turnedAway()).toBe(30);
    budget.answered();
    expect(budget.turnedAway()).toBe(1);
  });
});
