import { describe, expect, it } from '@jest/globals';
import { InMemoryKnownFacts } from '../../test/fakes/in-memory-known-facts.js';
import type { AppConfig } from '../config/app-config.js';
import type { ThisProcess } from '../config/this-process.js';
import { silentLogger } from '../core/logger.js';
import { PollLeases } from './poll-leases.js';
import { PollLoop } from './poll-loop.js';
import { PollPaces } from './poll-paces.js';

const EVERY_S = 60;
const TICK_MS = 250;

/** Processes over one store, with a clock that only the test moves. */
function setup({ kind = 'postgres' } = {}) {
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const facts = new InMemoryKnownFacts(clock);
  const polls: Array<{ by: string; atMs: number }> = [];
  const broken = new Set<string>();
  const processes = new Map<string, PollLoop>();
  const start = (name: string): void => {
    const config = {
      store: { kind },
      forges: [],
      housekeeping: { audits: false },
      orgs: [{ forge: 'main', feed: { everyS: EVERY_S } }],
    } as unknown as AppConfig;
    const leases = new PollLeases(config, { name } as ThisProcess, facts, clock, silentLogger);
    const source = {
      name: 'feed/main/acme',
      source: 'feed' as const,
      forge: 'main',
      org: 'acme',
      credential: 'main',
      callsPerPoll: 1,
      everyMs: EVERY_S * 1000,
      poll: async () => {
        polls.push({ by: name, atMs: nowMs });
        if (broken.has(name)) throw new Error('no route to the forge');
        return 1;
      },
    };
    const alerts = { raise: () => undefined, resolve: () => undefined };
    const paces = new PollPaces(config, { publish: () => undefined }, clock, alerts);
    processes.set(
      name,
      new PollLoop({ list: () => [source] }, leases, paces, clock, { next: () => 0.5 }, silentLogger, alerts),
    );
  };
  const run = async (forMs: number): Promise<void> => {
    for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += TICK_MS) {
      for (const loop of processes.values()) loop.wake();
      for (let n = 0; n < 10; n += 1) await Promise.resolve();
    }
  };
  const kill = (name: string): void => void processes.delete(name);
  const stop = async (name: string): Promise<void> => {
    const loop = processes.get(name);
    processes.delete(name);
    await loop?.stop();
  };
  return { start, run, kill, stop, broken, polls };
}

describe('polling/poll-leases', () => {
  it('lets one of several processes poll, once a period', async () => {
    const { start, run, polls } = setup();
    for (const name of ['a', 'b', 'c']) start(name);

    await run(10 * EVERY_S * 1000);

    expect(new Set(polls.map(({ by }) => by))).toEqual(new Set(['a']));
    expect(polls.length).toBeGreaterThanOrEqual(9);
    expect(polls.length).toBeLessThanOrEqual(11);
  });

  it('has another one poll within a period after the first was killed, whenever that was', async () => {
    for (const killedAfterMs of [1_000, 31_000, 59_000, 90_500, 119_750]) {
      const { start, run, kill, polls } = setup();
      for (const name of ['a', 'b']) start(name);
      await run(killedAfterMs);
      const lastMs = polls.at(-1)?.atMs ?? 0;
      kill('a');

      await run(EVERY_S * 1000);

      const next = polls.find(({ by }) => by === 'b');
      expect(next?.atMs).toBeGreaterThan(lastMs);
      expect(next?.atMs).toBeLessThan(killedAfterMs + EVERY_S * 1000);
    }
  });

  it('leaves the polls to the others at once when it stops', async () => {
    const { start, run, stop, polls } = setup();
    for (const name of ['a', 'b']) start(name);
    await run(10_000);

    await stop('a');
    await run(EVERY_S * 500);

    expect(polls.map(({ by }) => by)).toEqual(['a', 'b']);
  });

  it('ends by itself in a process whose polls all fail, so that one that reaches the forge takes over', async () => {
    const { start, run, broken, polls } = setup();
    for (const name of ['a', 'b']) start(name);
    await run(EVERY_S * 1000);
    broken.add('a');

    await run(10 * EVERY_S * 1000);

    expect(polls.at(-1)?.by).toBe('b');
  });

  it('holds nobody up who opens the same embedded store after a kill', async () => {
    const { start, run, kill, polls } = setup({ kind: 'embedded' });
    start('before');
    await run(1_000);
    kill('before');
    start('after');

    await run(1_000);

    expect(polls.map(({ by }) => by)).toEqual(['before', 'after']);
  });
});
