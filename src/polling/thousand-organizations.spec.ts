import { beforeAll, describe, expect, it } from '@jest/globals';
import { textOf } from '../core/reason.js';
import { silentLogger } from '../core/logger.js';
import { CallSchedule } from '../forge/budget.js';
import type { FeedPeriod } from '../forge/poll-periods.js';
import { PollLoop } from './poll-loop.js';
import { PollPaces } from './poll-paces.js';
import type { Polled } from './pollers.js';

const RATE_PER_S = 10;
const EVERY_MS = 60_000;
const LISTS_MS = 3_600_000;
const MINUTE_MS = 60_000;
const CALL_MS = 50;
const TICK_MS = 50;
/** By then the first polls of all are over, and the lists were visited. */
const SETTLED_MS = 15 * MINUTE_MS;
const END_MS = 40 * MINUTE_MS;

/** Half of the day of a forge with a thousand organizations: the real loop, paces and turns of calls, with a clock that only this moves. */
function simulate(organizations: number) {
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const schedule = new CallSchedule<{ begins: () => void }>();
  const ends: Array<{ atMs: number; call: { begins: () => void }; ended: () => void }> = [];
  const polls = new Map<string, number[]>();
  const urgent = new Set<string>();
  const alerts = new Map<string, string>();
  let published: FeedPeriod | null = null;
  let calls = 0;
  let random = 7;
  const call = (org: string): Promise<void> =>
    new Promise((resolve) => {
      const one = {
        begins: () => {
          if (nowMs >= SETTLED_MS) calls += 1;
          ends.push({ atMs: nowMs + CALL_MS, call: one, ended: resolve });
        },
      };
      schedule.add(one, { priority: 'poll', org });
    });
  const source = (
    kind: Polled['source'],
    org: string,
    everyMs: number,
    callsPerPoll: number,
    made: (n: number) => number,
  ): Polled => {
    let n = 0;
    return {
      name: `${kind}/main/${org}`,
      source: kind,
      forge: 'main',
      org,
      credential: 'main',
      everyMs,
      callsPerPoll,
      ...(kind === 'lists' ? { startAfterMs: MINUTE_MS } : { isUrgent: () => urgent.has(org) }),
      poll: async () => {
        const count = made((n += 1));
        for (let i = 0; i < count; i += 1) await call(org);
        polls.set(`${kind}/${org}`, [...(polls.get(`${kind}/${org}`) ?? []), nowMs]);
        return count;
      },
    };
  };
  const sources = Array.from({ length: organizations }, (_, number) => ({ org: `org-${number}`, number })).flatMap(
    ({ org, number }) => [
      source('feed', org, EVERY_MS, 1, () => 1),
      source('tasks', org, EVERY_MS, 0.2, (n) => (n === 1 ? 3 : n % 10 === number % 10 ? 2 : 0)),
      source('lists', org, LISTS_MS, 3, () => 3),
    ],
  );
  const paces = new PollPaces(
    { forges: [{ id: 'main', ratePerS: RATE_PER_S }], housekeeping: { audits: true } },
    { publish: (_, period) => void (published = period) },
    clock,
    {
      raise: (key, alert) => void (alerts.has(key) || alerts.set(key, textOf(alert))),
      resolve: (key) => void (key.startsWith('polls.') && alerts.delete(key)),
    },
  );
  const loop = new PollLoop(
    { list: () => sources },
    { holds: () => true, noteOutcome: () => undefined, release: async () => undefined },
    paces,
    clock,
    { next: () => (random = (random * 16_807) % 2_147_483_647) / 2_147_483_647 },
    silentLogger,
    { raise: () => undefined, resolve: () => undefined },
  );
  const run = async (): Promise<void> => {
    for (; nowMs < END_MS; nowMs += TICK_MS) {
      if (nowMs % 1000 === 0) loop.wake();
      for (;;) {
        const next = schedule.next(nowMs, { concurrency: 4, ratePerS: RATE_PER_S });
        if (next === null || !('begin' in next)) break;
        next.begin.begins();
      }
      for (let first = ends[0]; first && first.atMs <= nowMs; first = ends[0]) {
        ends.shift();
        schedule.ended(first.call);
        first.ended();
      }
      if (ends.length > 0 || nowMs % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** Seconds between two polls of a source, once all is settled. */
  const gaps = (name: string): number[] => {
    const times = (polls.get(name) ?? []).filter((at) => at >= SETTLED_MS);
    return times.slice(1).map((at, n) => (at - (times[n] ?? 0)) / 1000);
  };
  return { run, urgent, gaps, alerts, calls: () => calls, published: () => published };
}

describe('polling/a thousand organizations at ten calls a second', () => {
  const world = simulate(1000);
  beforeAll(async () => {
    // One has a gap, from the start.
    world.urgent.add('org-7');
    await world.run();
  }, 120_000);

  it('are all read alike, as rarely as half of the rate allows', () => {
    const { everyS = 0 } = world.published() ?? {};
    expect(everyS).toBeGreaterThan(200);
    expect(everyS).toBeLessThan(300);
    for (let n = 0; n < 1000; n += 1) {
      if (n === 7) continue;
      const gaps = world.gaps(`feed/org-${n}`);
      expect(gaps.length).toBeGreaterThanOrEqual(3);
      // Turns come up to a tenth too early or too late, and calls wait for each other.
      for (const gap of gaps) {
        expect(gap).toBeGreaterThan(everyS * 0.85);
        expect(gap).toBeLessThan(everyS * 1.2);
      }
    }
    const perS = world.calls() / ((END_MS - SETTLED_MS) / 1000);
    expect(perS).toBeLessThanOrEqual(RATE_PER_S / 2);
    expect(perS).toBeGreaterThan(RATE_PER_S * 0.4);
  });

  it('but one with a gap keeps its period', () => {
    for (const gap of world.gaps('feed/org-7')) expect(gap).toBeLessThan((EVERY_MS / 1000) * 1.2);
  });

  it('and make one alert, with what it takes and what there is', () => {
    expect([...world.alerts.keys()]).toEqual(['polls.stretched/main']);
    expect(world.alerts.get('polls.stretched/main')).toMatch(
      /^feeds of main are read every 2\d\d s, wanted 60: 1,000 organizations need 1,\d\d\d calls a minute, 2\d\d are left; raise forges\[\]\.rate_per_s \(4\d would do, if the forge bears it\), or feed\.every_s$/,
    );
  });
});
