import { describe, expect, it } from '@jest/globals';
import { type DataSource } from 'typeorm';
import { callingAs } from '../core/caller.js';
import { StoreUnavailable } from '../core/errors.js';
import { Database } from './database.js';
import { BatchLoader } from './batch-loader.js';
import { StoreGate } from './store-gate.js';

/** A store that nothing is asked of: what is asked together is asked of the doubles below. */
const noStore = {} as unknown as DataSource;
const free = new Database(noStore);

describe('store/batch-loader', () => {
  it('asks for all that come in one breath at once, and gives each its own answer', async () => {
    const batches: number[][] = [];
    const together = new BatchLoader<number, string>(
      () => free,
      async (asks) => {
        batches.push([...asks]);
        return asks.map((ask) => `answer ${ask}`);
      },
    );

    const answers = await Promise.all([1, 2, 3].map((ask) => together.ask(ask)));

    expect(answers).toEqual(['answer 1', 'answer 2', 'answer 3']);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it.each([
    ['a server: all of one round of the loop', new StoreGate(2), [[1, 2]]],
    ['the embedded store: what is there at once', new StoreGate(1), [[1], [2]]],
  ])('waits for others of the same breath; with %s', async (_, gate, wanted) => {
    const batches: number[][] = [];
    const db = new Database(noStore, gate);
    const together = new BatchLoader<number, number>(
      () => db,
      async (asks) => {
        batches.push([...asks]);
        return asks;
      },
    );

    const first = together.ask(1);
    for (let microtask = 0; microtask < 20; microtask += 1) await Promise.resolve();
    await Promise.all([first, together.ask(2)]);

    expect(batches).toEqual(wanted);
  });

  it('keeps what comes while one batch is under way for the next', async () => {
    const batches: number[][] = [];
    let goOn = (): void => undefined;
    let begun = (): void => undefined;
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const together = new BatchLoader<number, number>(
      () => free,
      async (asks) => {
        batches.push([...asks]);
        begun();
        if (batches.length === 1) await new Promise<void>((resolve) => (goOn = resolve));
        return asks;
      },
    );

    const first = together.ask(1);
    await isBegun;
    const later = Promise.all([together.ask(2), together.ask(3)]);
    goOn();

    expect([await first, await later]).toEqual([1, [2, 3]]);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('rests for nobody where organizations share the store', async () => {
    const batches: number[][] = [];
    const shared = new BatchLoader<number, number>(
      () => ({ inTurn: (work) => free.inTurn(work), afterOthers: (begin) => free.afterOthers(begin), isShared: true }),
      async (asks) => {
        batches.push([...asks]);
        return asks;
      },
      60_000,
      () => 0,
    );

    await Promise.all([1, 2].map((ask) => shared.ask(ask)));
    await Promise.all([3, 4].map((ask) => shared.ask(ask)));

    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('rests between two turns where it is told to, but not for one who asks alone', async () => {
    const batches: number[][] = [];
    let now = 0;
    const resting = new BatchLoader<number, number>(
      () => free,
      async (asks) => {
        batches.push([...asks]);
        return asks;
      },
      60_000,
      () => now,
    );

    for (const alone of [1, 2]) await resting.ask(alone);
    await Promise.all([3, 4].map((ask) => resting.ask(ask)));
    expect(batches.splice(0)).toEqual([[1], [2], [3, 4]]);
    // A second is left: longer than a busy machine needs for five rounds.
    now = 59_000;
    const early = resting.ask(5);
    for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(batches).toEqual([]);
    await Promise.all([early, resting.ask(6)]);

    expect(batches).toEqual([[5, 6]]);
  });

  it('does not rest for an organization that asks alone while another asks for many', async () => {
    const batches: string[][] = [];
    const resting = new BatchLoader<string, string>(
      () => free,
      async (asks) => {
        batches.push([...asks]);
        return asks;
      },
      60_000,
      () => 0,
    );
    const ask = (org: string, what: string): Promise<string> =>
      callingAs({ lane: 'webhook', org }, () => resting.ask(what));

    await Promise.all(['flood-1', 'flood-2'].map((what) => ask('acme', what)));
    const floodGoesOn = ask('acme', 'flood-3');
    for (const step of ['step-1', 'step-2']) await ask('beta', step);
    await floodGoesOn;

    expect(batches).toEqual([['flood-1', 'flood-2'], ['step-1', 'flood-3'], ['step-2']]);
  });

  it('asks each alone when they are refused together, so that one spoils no other', async () => {
    const together = new BatchLoader<number, number>(
      () => free,
      async (asks) => {
        if (asks.includes(2)) throw new Error('not two');
        return asks;
      },
    );

    const ends = await Promise.allSettled([1, 2, 3].map((ask) => together.ask(ask)));

    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('asks nobody again while the store is away', async () => {
    let asked = 0;
    const together = new BatchLoader<number, number>(
      () => free,
      async () => {
        asked += 1;
        throw new StoreUnavailable('away');
      },
    );

    const ends = await Promise.allSettled([1, 2, 3].map((ask) => together.ask(ask)));

    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(asked).toBe(1);
  });

  it('works on after a failure', async () => {
    let isAway = true;
    const together = new BatchLoader<number, number>(
      () => free,
      async (asks) => {
        if (isAway) throw new StoreUnavailable('away');
        return asks;
      },
    );
    await together.ask(1).catch(() => undefined);

    isAway = false;

    expect(await together.ask(2)).toBe(2);
  });

  it('sends no more than 64 at once', async () => {
    const sizes: number[] = [];
    const together = new BatchLoader<number, number>(
      () => free,
      async (asks) => {
        sizes.push(asks.length);
        return asks;
      },
    );

    await Promise.all(Array.from({ length: 100 }, (_, n) => together.ask(n)));

    expect(sizes).toEqual([64, 36]);
  });

  describe('where the store has one place', () => {
    const of = (org: string, together: BatchLoader<string, string>, ask: string): Promise<string> =>
      callingAs({ lane: 'webhook', org }, () => together.ask(ask));
    const named = (org: string, many: number): string[] => Array.from({ length: many }, (_, n) => `${org}-${n + 1}`);

    /** Batches in the order in which the store was asked; the first waits until it is told to go on. */
    function begun(): {
      together: BatchLoader<string, string>;
      batches: string[][];
      goOn: () => void;
      isBegun: Promise<void>;
    } {
      const batches: string[][] = [];
      const gate = new Database(noStore, new StoreGate(1));
      let goOn = (): void => undefined;
      let tell = (): void => undefined;
      const isBegun = new Promise<void>((resolve) => (tell = resolve));
      const isToldTo = new Promise<void>((resolve) => (goOn = resolve));
      const together = new BatchLoader<string, string>(
        () => gate,
        async (asks) => {
          batches.push([...asks]);
          tell();
          await isToldTo;
          return asks;
        },
      );
      return { together, batches, goOn, isBegun };
    }

    it('takes the asks of one organization after the turn of another that is under way, and as many of the others as it has itself', async () => {
      const { together, batches, goOn, isBegun } = begun();

      const flood = named('flood', 150).map((ask) => of('flood', together, ask));
      await isBegun;
      const quiet = named('quiet', 2).map((ask) => of('quiet', together, ask));
      await Promise.resolve();
      goOn();

      expect(await Promise.all([...flood, ...quiet])).toEqual([...named('flood', 150), ...named('quiet', 2)]);
      expect(batches.map(({ length }) => length)).toEqual([64, 4, 64, 20]);
      expect(batches[1]).toEqual(['quiet-1', 'quiet-2', 'flood-65', 'flood-66']);
    });

    it('takes those of many organizations in one turn, and asks nothing for those that find theirs taken', async () => {
      const { together, batches, goOn, isBegun } = begun();

      const first = of('first', together, 'first');
      await isBegun;
      const many = named('org', 50).map((org) => of(org, together, org));
      goOn();

      expect(await Promise.all([first, ...many])).toEqual(['first', ...named('org', 50)]);
      expect(batches).toEqual([['first'], named('org', 50)]);
    });

    it('lets others have a turn before those that are asked alone after they were refused together', async () => {
      const asked: string[][] = [];
      const gate = new Database(noStore, new StoreGate(1));
      let another: Promise<unknown> = Promise.resolve();
      const together = new BatchLoader<string, string>(
        () => gate,
        async (asks) => {
          asked.push([...asks]);
          if (asks.length === 1) return asks;
          another = callingAs({ lane: 'webhook', org: 'b' }, () => gate.inTurn(async () => asked.push(['another'])));
          throw new Error('not together');
        },
      );

      expect(await Promise.all(named('a', 3).map((ask) => of('a', together, ask)))).toEqual(named('a', 3));
      await another;
      expect(asked).toEqual([['a-1', 'a-2', 'a-3'], ['another'], ['a-1'], ['a-2'], ['a-3']]);
    });

    it('takes as many as fit into 25 ms, eight at least, while another organization uses it', async () => {
      let now = 0;
      let msPerAsk = 2;
      const sizes: number[] = [];
      const gate = new Database(noStore, new StoreGate(1, () => now));
      const together = new BatchLoader<string, string>(
        () => gate,
        async (asks) => {
          sizes.push(asks.length);
          now += asks.length * msPerAsk;
          return asks;
        },
        0,
        () => now,
      );
      const flood = (count: number): Promise<string[]> =>
        Promise.all(named('flood', count).map((ask) => of('flood', together, ask)));

      await flood(70);
      expect(sizes.splice(0)).toEqual([64, 6]);
      await of('quiet', together, 'quiet');
      await flood(30);
      expect(sizes.splice(0)).toEqual([1, 12, 12, 6]);
      msPerAsk = 10;
      await flood(20);
      expect(sizes.splice(0)).toEqual([12, 8]);
      now += 2_000;
      await flood(20);
      expect(sizes.splice(0)).toEqual([20]);
    });
  });
});
