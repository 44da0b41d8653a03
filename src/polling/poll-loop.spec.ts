import { describe, expect, it } from '@jest/globals';
import { silentLogger } from '../core/logger.js';
import type { AppConfig } from '../config/app-config.js';
import type { Clock } from '../core/clock.js';
import { PollLoop } from './poll-loop.js';
import { PollPaces } from './poll-paces.js';

const HELD = { holds: () => true, noteOutcome: () => undefined, release: async () => undefined };

const NO_ALERTS = { raise: () => undefined, resolve: () => undefined };
const CONFIG = { forges: [], housekeeping: { audits: false } } as unknown as AppConfig;
const FEED = { source: 'feed', forge: 'main', org: 'acme', credential: 'main', callsPerPoll: 1 } as const;

/** Of a forge without a limit. */
function pacesOf(clock: Clock): PollPaces {
  return new PollPaces(CONFIG, { publish: () => undefined }, clock, NO_ALERTS);
}

function setup(poll: () => Promise<unknown>) {
  const clock = { now: () => new Date(state.now), monotonicMs: () => state.now };
  const state = { now: 0, raised: [] as string[], polls: 0, isPressing: false };
  const loop = new PollLoop(
    {
      list: () => [
        {
          name: 'feed/acme',
          ...FEED,
          everyMs: 1000,
          isPressing: () => state.isPressing,
          poll: async () => {
            state.polls += 1;
            await poll();
            return 1;
          },
        },
      ],
    },
    HELD,
    pacesOf(clock),
    clock,
    { next: () => 0.5 },
    silentLogger,
    { raise: (key) => void state.raised.push(key), resolve: () => {} },
  );
  const wakeAt = async (ms: number): Promise<void> => {
    state.now = ms;
    loop.wake();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { state, loop, wakeAt };
}

describe('polling/poll-loop', () => {
  it('polls at once and then when it is due', async () => {
    const { state, wakeAt } = setup(async () => {});

    await wakeAt(0);
    await wakeAt(500);
    await wakeAt(1000);

    expect(state.polls).toBe(2);
  });

  it('polls four times as often while something presses, and not so when polls fail', async () => {
    let failing = false;
    const { state, wakeAt } = setup(async () => {
      if (failing) throw new Error('down');
    });
    state.isPressing = true;
    for (const ms of [0, 249, 250, 500]) await wakeAt(ms);
    expect(state.polls).toBe(3);

    state.isPressing = false;
    for (const ms of [750, 1000, 1749, 1750]) await wakeAt(ms);
    expect(state.polls).toBe(5);

    [state.isPressing, failing] = [true, true];
    for (const ms of [2750, 3000, 4749, 4750]) await wakeAt(ms);
    expect(state.polls).toBe(7);
  });

  it('polls soon what presses since its last poll', async () => {
    const { state, wakeAt } = setup(async () => {});
    await wakeAt(0);
    await wakeAt(500);
    state.isPressing = true;
    await wakeAt(501);

    expect(state.polls).toBe(2);
  });

  it('never overlaps one source', async () => {
    let end = (): void => {};
    const { state, wakeAt } = setup(() => new Promise<void>((resolve) => (end = resolve)));

    await wakeAt(0);
    await wakeAt(5000);
    expect(state.polls).toBe(1);

    end();
    await wakeAt(5001);
    await wakeAt(6001);
    expect(state.polls).toBe(2);
  });

  it('waits longer after each failure, and tells a person at the third', async () => {
    const { state, wakeAt } = setup(() => Promise.reject(new Error('no')));

    await wakeAt(0);
    await wakeAt(1000);
    expect(state.polls).toBe(1);
    await wakeAt(2000);
    await wakeAt(6000);

    expect(state.polls).toBe(3);
    expect(state.raised).toEqual(['poller.failing/feed/acme']);
  });

  it('starts nothing after it was stopped', async () => {
    const { state, loop, wakeAt } = setup(async () => {});

    await loop.stop();
    await wakeAt(0);

    expect(state.polls).toBe(0);
  });

  it('forgets a source that is gone, with its alert, and polls it at once when it comes back', async () => {
    const resolved: string[] = [];
    const polls: string[] = [];
    let names = ['feed/acme', 'feed/beta'];
    let now = 0;
    const clock = { now: () => new Date(now), monotonicMs: () => now };
    const loop = new PollLoop(
      {
        list: () => names.map((name) => ({ name, ...FEED, everyMs: 1000, poll: async () => polls.push(name) })),
      },
      HELD,
      pacesOf(clock),
      clock,
      { next: () => 0.5 },
      silentLogger,
      { raise: () => undefined, resolve: (key) => void resolved.push(key) },
    );
    const wakeAt = async (ms: number, ...sources: string[]): Promise<void> => {
      [now, names] = [ms, sources];
      loop.wake();
      await new Promise((resolve) => setImmediate(resolve));
    };
    await wakeAt(0, 'feed/acme', 'feed/beta');
    resolved.length = 0;

    await wakeAt(100, 'feed/acme');
    await wakeAt(200, 'feed/acme', 'feed/beta');

    expect(resolved[0]).toBe('poller.failing/feed/beta');
    expect(polls).toEqual(['feed/acme', 'feed/beta', 'feed/beta']);
  });
});
