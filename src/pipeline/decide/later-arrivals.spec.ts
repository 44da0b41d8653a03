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
    later.wake(arrived(agoMs), 'its delivery');

    jest.advanceTimersByTime(inMs - 1);
    expect(announced).toEqual([]);
    jest.advanceTimersByTime(600_000);
    expect(announced).toEqual([['arrival', ['a'], 'acme']]);
  });

  it('wakes what is put off several times once', () => {
    const { announced, later } = make();
    for (let times = 0; times < 5; times += 1) later.wake(arrived(0), 'others');

    jest.advanceTimersByTime(600_000);
    expect(announced).toHaveLength(1);
  });

  it('wakes what waits for others together and in order when one was decided, and nothing else', () => {
    const { announced, later } = make();
    const waiting = (id: string, org = 'acme'): Arrival => ({ ...arrived(50_000), id, org });
    later.decided();
    for (const id of ['c', 'a', 'b']) later.wake(waiting(id), 'others');
    later.wake(waiting('d', 'other'), 'others');
    later.wake(waiting('row'), 'its delivery');
    jest.advanceTimersByTime(1_000);
    expect(announced).toEqual([]);

    later.decided();
    later.decided();
    jest.advanceTimersByTime(1_000);
    expect(announced).toEqual([
      ['arrival', ['a', 'b', 'c'], 'acme'],
      ['arrival', ['d'], 'other'],
    ]);
    jest.advanceTimersByTime(600_000);
    expect(announced.slice(2)).toEqual([['arrival', ['row'], 'acme']]);
  });

  it('leaves to the sweep what the queue does not take', async () => {
    const refused = Promise.reject(new Error('the queue is away'));
    const caught = jest.spyOn(refused, 'catch');
    new LaterArrivals({ announce: () => refused }, { now: () => new Date() }).wake(arrived(0), 'others');

    jest.advanceTimersByTime(600_000);
    expect(caught).toHaveBeenCalledTimes(1);
  });

  it('wakes nothing after its end', async () => {
    const { announced, later } = make();
    later.wake(arrived(0), 'others');
    later.decided();
    await later.stop();

    jest.advanceTimersByTime(600_000);
    expect(announced).toEqual([]);
  });
});
