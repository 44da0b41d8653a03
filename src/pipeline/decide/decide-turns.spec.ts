import { beforeEach, describe, expect, it } from '@jest/globals';
import { aDelivery, anEvent } from '../../../test/builders/arrivals.js';
import { aBatchDecider, EVENT_READER } from '../../../test/builders/decide-all.js';
import { InMemoryInboxStore } from '../../../test/fakes/in-memory-inbox-store.js';
import { silentLogger } from '../../core/logger.js';
import type { ArrivalBatch } from '../inbox-store.port.js';
import type { CrashLoopGuard } from './crash-loop-guard.js';
import { DecideTurns } from './decide-turns.js';

describe('pipeline/decide/decide-turns', () => {
  let inbox: InMemoryInboxStore;
  let batches: string[][];
  let rung: string[];
  let nowMs: number;
  /** Arrivals that fit into one transaction. */
  let fits: number;
  let held: string[];
  let watched: string[];
  let turns: DecideTurns;

  /** Stores as many deliveries. @returns their ids */
  async function store(count: number, org = 'acme'): Promise<string[]> {
    const all = Array.from({ length: count }, (_, n) => aDelivery({ org, text: `{"n":"${org} ${n}"}` }));
    await inbox.storeDeliveries(all);
    return all.map(({ id }) => id);
  }

  beforeEach(() => {
    [batches, rung, held, watched] = [[], [], [], []];
    [nowMs, fits] = [0, Infinity];
    inbox = new InMemoryInboxStore();
    const watchedInbox = {
      putOff: inbox.putOff.bind(inbox),
      inBatch: <T>(work: (batch: ArrivalBatch) => Promise<T>): Promise<T> =>
        inbox.inBatch((batch) => {
          const claim = async (ids: readonly string[]) => {
            batches.push([...ids]);
            nowMs += 100;
            return (await batch.claim(ids)).slice(0, fits);
          };
          return work({ ...batch, claim });
        }),
    };
    const watch: Pick<CrashLoopGuard, 'batch' | 'run' | 'settled'> = {
      run: async (topic, id, work) => {
        watched.push(`${topic} ${id}`);
        if (!held.includes(id)) await work();
      },
      batch: async (_topic, deal, work) => {
        const ids = await deal([]);
        const given = ids.filter((id) => !held.includes(id));
        if (given.length > 0) await work(given);
        return { dealt: ids.length, isHeldUp: given.length < ids.length };
      },
      settled: async () => void watched.push('settled'),
    };
    const queue = {
      ring: (topic: string, org: string): void => void rung.push(`${topic} of ${org}`),
      serve: async () => undefined,
    };
    const clock = { now: () => new Date(), monotonicMs: () => nowMs };
    const arrivals = aBatchDecider({
      inbox: watchedInbox,
      queue,
      clock,
      logger: silentLogger,
      events: EVENT_READER,
    });
    turns = new DecideTurns(
      arrivals,
      {
        decideEvent: async ({ id }) => (watched.push(`decided ${id}`), null),
        checkWithoutRules: async () => undefined,
      },
      { decideRun: async () => 0 },
      watch,
      queue,
      {
        dueArrivals: (most, line) => inbox.dueArrivals(most, line),
        undecidedEvents: async () => [],
        claimEvents: async (_org, _most, except) =>
          ['e1', 'e2'].filter((id) => !except.includes(id)).map((id) => anEvent({ id })),
      },
      { dueRuns: async () => [] },
      { active: async () => ({}) as never },
      clock,
      silentLogger,
    );
  });

  const sizes = (): number[] => batches.map(({ length }) => length);

  it('gives a turn of arrivals a batch after the other, until nothing is left', async () => {
    await store(100);

    expect(await turns.turn('arrivals', 'acme')).toBe(false);

    expect(sizes()).toEqual([64, 36]);
    expect(await inbox.dueArrivals(9)).toEqual([]);
  });

  it('ends a turn after a quarter of a second, with what is left', async () => {
    await store(300);

    expect(await turns.turn('arrivals', 'acme')).toBe(true);
    expect(sizes()).toEqual([64, 64, 64]);
  });

  it('goes on with what was too much for one transaction', async () => {
    await store(3);
    fits = 1;

    expect(await turns.turn('arrivals', 'acme')).toBe(false);
    expect(sizes()).toEqual([3, 2, 1]);
  });

  it('ends a turn that is held up', async () => {
    held = await store(100);

    expect(await turns.turn('arrivals', 'acme')).toBe(false);
    expect(batches).toEqual([]);
  });

  it('takes smaller batches while several organizations have turns', async () => {
    await store(1, 'other');
    await turns.turn('arrivals', 'other');
    await store(1_000);
    while (await turns.turn('arrivals', 'acme'));

    // The clock of this test goes on by a tenth of a second with each batch.
    expect(sizes().slice(0, 12)).toEqual([1, ...Array.from({ length: 10 }, () => 16), 64]);
  });

  it('decides events under watch, and has the next of an object looked for', async () => {
    held = ['e2'];
    await turns.turn('events', 'acme');
    await turns.stop(1_000);

    expect(watched).toEqual(['event e1', 'decided e1', 'event e2', 'settled']);
    expect(rung).toEqual(['events of acme']);
  });

  it('begins no batch once it is to end', async () => {
    await store(1);
    await turns.stop(1_000);

    expect(await turns.turn('arrivals', 'acme')).toBe(false);
    expect(batches).toEqual([]);
  });
});
