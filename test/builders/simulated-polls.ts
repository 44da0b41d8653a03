import { silentLogger } from '../../src/core/logger.js';
import { textOf } from '../../src/core/reason.js';
import { CallSchedule } from '../../src/forge/budget.js';
import type { FeedPeriod } from '../../src/forge/poll-periods.js';
import { PollLoop } from '../../src/polling/poll-loop.js';
import { PollPaces } from '../../src/polling/poll-paces.js';
import type { Polled } from '../../src/polling/pollers.js';

export const FEED_EVERY_MS = 60_000;
const MINUTE_MS = 60_000;
const LISTS_MS = 3_600_000;
const CALL_MS = 50;
const TICK_MS = 50;
/** By then the first polls of all are over, and the lists were visited. What is told is what comes after it. */
const SETTLED_MS = 15 * MINUTE_MS;
const END_MS = 40 * MINUTE_MS;

interface SimulatedForge {
  readonly id: string;
  readonly organizations: number;
  readonly ratePerS: number;
}

interface Call {
  begins(): void;
}

/**
 * Forty minutes of a scheduler that polls quiet organizations: the real loop, paces and turns of calls, with a clock that only this moves. A call takes 50 ms, a feed is
 * wanted each minute, tasks are read in one poll of ten, and lists once an hour. Organizations are named `org-0` and so on within each forge.
 */
export function simulatePolls(forges: readonly SimulatedForge[]) {
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const schedules = new Map(forges.map(({ id }) => [id, new CallSchedule<Call>()]));
  const ends: Array<{ atMs: number; end: () => void }> = [];
  const polls = new Map<string, number[]>();
  const urgent = new Set<string>();
  const alerts = new Map<string, string>();
  const published = new Map<string, FeedPeriod>();
  const calls = new Map<string, number>();
  let random = 7;
  const call = (forge: string, org: string): Promise<void> =>
    new Promise((resolve) => {
      const one: Call = {
        begins: () => {
          if (nowMs >= SETTLED_MS) calls.set(forge, (calls.get(forge) ?? 0) + 1);
          ends.push({
            atMs: nowMs + CALL_MS,
            end: () => {
              schedules.get(forge)?.ended(one);
              resolve();
            },
          });
        },
      };
      schedules.get(forge)?.add(one, { priority: 'poll', org });
    });
  const sources = forges.flatMap(({ id: forge, organizations }) => {
    const source = (
      [kind, everyMs, callsPerPoll]: readonly [Polled['source'], number, number],
      org: string,
      made: (n: number) => number,
    ): Polled => {
      let n = 0;
      const name = `${kind}/${forge}/${org}`;
      return {
        ...{ name, source: kind, forge, org, credential: forge, everyMs, callsPerPoll },
        ...(kind === 'lists' ? { startAfterMs: MINUTE_MS } : { isUrgent: () => urgent.has(org) }),
        poll: async () => {
          const count = made((n += 1));
          for (let i = 0; i < count; i += 1) await call(forge, org);
          const times = polls.get(name);
          if (times) times.push(nowMs);
          else polls.set(name, [nowMs]);
          return count;
        },
      };
    };
    return Array.from({ length: organizations }, (_, number) => `org-${number}`).flatMap((org, number) => [
      source(['feed', FEED_EVERY_MS, 1], org, () => 1),
      source(['tasks', FEED_EVERY_MS, 0.2], org, (n) => (n === 1 ? 3 : n % 10 === number % 10 ? 2 : 0)),
      source(['lists', LISTS_MS, 3], org, () => 3),
    ]);
  });
  const paces = new PollPaces(
    { forges, housekeeping: { audits: true } },
    { publish: (credential, period) => void published.set(credential, period) },
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
  const begin = (schedule: CallSchedule<Call>, ratePerS: number): void => {
    for (;;) {
      const next = schedule.next(nowMs, { concurrency: 4, ratePerS });
      if (next === null || !('begin' in next)) return;
      next.begin.begins();
    }
  };
  const run = async (): Promise<void> => {
    for (; nowMs < END_MS; nowMs += TICK_MS) {
      if (nowMs % 1000 === 0) loop.wake();
      for (const { id, ratePerS } of forges) {
        const schedule = schedules.get(id);
        if (schedule) begin(schedule, ratePerS);
      }
      for (let first = ends[0]; first && first.atMs <= nowMs; first = ends[0]) {
        ends.shift();
        first.end();
      }
      if (ends.length > 0 || nowMs % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** Seconds between two polls of a source, once all is settled. */
  const gaps = (name: string): number[] => {
    const times = (polls.get(name) ?? []).filter((at) => at >= SETTLED_MS);
    return times.slice(1).map((at, n) => (at - (times[n] ?? 0)) / 1000);
  };
  return {
    run,
    urgent,
    gaps,
    alerts,
    /** Calls to a forge in a second, once all is settled. */
    callsPerS: (forge: string) => (calls.get(forge) ?? 0) / ((END_MS - SETTLED_MS) / 1000),
    /** What was told last of the polls of a forge. */
    period: (forge: string) => published.get(forge) ?? null,
  };
}
