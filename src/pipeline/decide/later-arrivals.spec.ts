import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Arrival } from '../../core/arrival.js';
import { LaterArrivals } from './later-arrivals.js';

describe('pipeline/decide/later-arrivals', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const arrived = (agoMs: number): Arrival =>
    ({ kind: 'delivery', id: 'a', org: 'acme', receivedAt: new Date(Date.now() - agoMs) }) as Arrival;

  function make() {
    const rung: unknown[] = [];
    const queue = { ring: (...told: unknown[]) => void rung.push(told.join(' of ')) };
    return { rung, later: new LaterArrivals(queue, { now: () => new Date() }) };
  }

  it.each([
    [0, 1_000],
    [4_000, 4_000],
    [3_600_000, 60_000],
  ])('leaves alone what came %i ms ago for %i ms, and rings once', (agoMs, inMs) => {
    const { rung, later } = make();
    later.wake(arrived(agoMs), 'its delivery');

    jest.advanceTimersByTime(inMs - 1);
    expect(rung).toEqual([]);
    jest.advanceTimersByTime(600_000);
    expect(rung).toEqual(['arrivals of acme']);
  });

  it('rings once for what is put off several times', () => {
    const { rung, later } = make();
    for (let times = 0; times < 5; times += 1) later.wake(arrived(0), 'others');

    jest.advanceTimersByTime(600_000);
    expect(rung).toHaveLength(1);
  });

  it('lets what waits for others go on together when one was decided, and nothing else', () => {
    const { rung, later } = make();
    const waiting = (id: string, org = 'acme'): Arrival => ({ ...arrived(50_000), id, org });
    later.decided();
    for (const id of ['c', 'a', 'b']) later.wake(waiting(id), 'others');
    later.wake(waiting('d', 'other'), 'others');
    later.wake(waiting('row'), 'its delivery');
    jest.advanceTimersByTime(1_000);
    expect(rung).toEqual([]);
    expect([later.of('acme'), later.of('other')]).toEqual([['c', 'a', 'b', 'row'], ['d']]);

    later.decided();
    later.decided();
    jest.advanceTimersByTime(1_000);
    expect(rung).toEqual(['arrivals of acme', 'arrivals of other']);
    expect([later.of('acme'), later.of('other')]).toEqual([['row'], []]);
    jest.advanceTimersByTime(600_000);
    expect(rung.slice(2)).toEqual(['arrivals of acme']);
    expect(later.of('acme')).toEqual([]);
  });

  it('rings no more after its end', async () => {
    const { rung, later } = make();
    later.wake(arrived(0), 'others');
    later.decided();
    await later.stop();

    jest.advanceTimersByTime(600_000);
    expect(rung).toEqual([]);
  });
});
