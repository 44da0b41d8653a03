import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Arrival } from '../../core/arrival.js';
import { LaterArrivals } from './later-arrivals.js';

describe('pipeline/decide/later-arrivals', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const arrived = (agoMs: number): Arrival =>
    ({ kind: 'delivery', id: 'a', org: 'acme', receivedAt: new Date(Date.now() - agoMs) }) as Arrival;

  function make() {
    const announced: unknown[] = [];
    const queue = { announce: async (...told: unknown[]) => void announced.push(told) };
    return { announced, later: new LaterArrivals(queue, { now: () => new Date() }) };
  }

  it.each([
    [0, 1_000],
    [4_000, 4_000],
    [3_600_000, 60_000],
  ])('wakes what came %i ms ago after %i ms, once', (agoMs, inMs) => {
    const { announced, later } = make();
    later.wake(arrived(agoMs));

    jest.advanceTimersByTime(inMs - 1);
    expect(announced).toEqual([]);
    jest.advanceTimersByTime(600_000);
    expect(announced).toEqual([['arrival', ['a'], 'acme']]);
  });

  it('wakes what is put off several times once', () => {
    const { announced, later } = make();
    for (let times = 0; times < 5; times += 1) later.wake(arrived(0));

    jest.advanceTimersByTime(600_000);
    expect(announced).toHaveLength(1);
  });

  it('leaves to the sweep what the queue does not take', async () => {
    const refused = Promise.reject(new Error('the queue is away'));
    const caught = jest.spyOn(refused, 'catch');
    new LaterArrivals({ announce: () => refused }, { now: () => new Date() }).wake(arrived(0));

    jest.advanceTimersByTime(600_000);
    expect(caught).toHaveBeenCalledTimes(1);
  });

  it('wakes nothing after its end', async () => {
    const { announced, later } = make();
    later.wake(arrived(0));
    await later.stop();

    jest.advanceTimersByTime(600_000);
    expect(announced).toEqual([]);
  });
});
