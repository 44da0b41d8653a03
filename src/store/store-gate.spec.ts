import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { callingAs } from '../core/caller.js';
import { StoreGate, type Place } from './store-gate.js';

/** Work that goes on until it is let go, and the order in which it began. */
class Works {
  readonly begun: string[] = [];
  private readonly ends: Array<() => void> = [];

  start(gate: StoreGate, name: string, org: string | null): Promise<void> {
    return callingAs({ priority: 'webhook', org }, () => this.startFor(gate, name));
  }

  startFor(gate: StoreGate, name: string, org?: string): Promise<void> {
    const work = async (): Promise<void> => {
      this.begun.push(name);
      await new Promise<void>((resolve) => this.ends.push(resolve));
    };
    return gate.through(work, 'in turn', org);
  }

  async endNext(): Promise<void> {
    this.ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Work of an organization that takes so long; its beginning is noted. */
function worker(gate: StoreGate, begun: string[], passes: (ms: number) => void) {
  return (org: string, ms: number, name = org, place: Place = 'in turn'): Promise<void> =>
    callingAs({ priority: 'webhook', org }, () =>
      gate.through(async () => {
        begun.push(name);
        passes(ms);
        await Promise.resolve();
      }, place),
    );
}

describe('store/store-gate', () => {
  it('lets through as many at once as it has places', async () => {
    const gate = new StoreGate(2);
    const works = new Works();
    const all = ['a', 'b', 'c'].map((name) => works.start(gate, name, 'acme'));

    expect(works.begun).toEqual(['a', 'b']);
    await works.endNext();
    expect(works.begun).toEqual(['a', 'b', 'c']);
    await works.endNext();
    await works.endNext();
    await Promise.all(all);
  });

  it('lets one organization after another through, and those of one in the order they came', async () => {
    const gate = new StoreGate(1, () => 0);
    const works = new Works();
    const all = ['1', '2', '3', '4'].map((name) => works.start(gate, name, 'acme'));
    all.push(works.start(gate, 'quiet', 'beta'), works.start(gate, 'for nobody', null));

    for (let n = 0; n < 6; n += 1) await works.endNext();
    await Promise.all(all);

    expect(works.begun).toEqual(['1', '2', 'quiet', 'for nobody', '3', '4']);
  });

  it('counts work for the organization that it is told, whoever calls', async () => {
    const gate = new StoreGate(1, () => 0);
    const works = new Works();
    const all = ['1', '2', '3'].map((name) => works.start(gate, name, 'acme'));
    all.push(callingAs({ priority: 'webhook', org: 'acme' }, () => works.startFor(gate, 'told', 'beta')));

    for (let n = 0; n < 4; n += 1) await works.endNext();
    await Promise.all(all);

    expect(works.begun).toEqual(['1', '2', 'told', '3']);
  });

  it('lets the organization through next that used the store for the least time', async () => {
    let now = 0;
    const gate = new StoreGate(1, () => now);
    const begun: string[] = [];
    const work = worker(gate, begun, (ms) => (now += ms));

    await Promise.all([
      work('acme', 50),
      work('acme', 50),
      work('acme', 50),
      work('beta', 10),
      work('beta', 10),
      work('beta', 10),
    ]);

    expect(begun).toEqual(['acme', 'beta', 'beta', 'beta', 'acme', 'acme']);
  });

  it('lets through before all others what comes first', async () => {
    const gate = new StoreGate(1, () => 0);
    const begun: string[] = [];
    const note = (name: string) => async (): Promise<void> => void begun.push(name);

    await Promise.all([gate.through(note('1')), gate.through(note('2')), gate.through(note('first'), 'first')]);

    expect(begun).toEqual(['1', 'first', '2']);
  });

  it('lets through what comes first before the rest of its organization, and not before one that used less', async () => {
    let now = 0;
    const gate = new StoreGate(1, () => now);
    const begun: string[] = [];
    const work = worker(gate, begun, (ms) => (now += ms));

    await Promise.all([
      work('acme', 50, 'acme 1'),
      work('acme', 50, 'acme 2'),
      work('acme', 50, 'acme commit', 'first'),
      work('beta', 50, 'beta 1'),
      work('beta', 50, 'beta commit', 'first'),
    ]);

    expect(begun).toEqual(['acme 1', 'beta commit', 'acme commit', 'beta 1', 'acme 2']);
  });

  describe('after a turn of one that used little', () => {
    let now = 0;
    beforeEach(() => {
      now = 0;
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
    });
    afterEach(() => void jest.useRealTimers());

    const rounds = async (): Promise<void> => {
      for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve));
    };

    /** A store that two organizations use: acme for long, beta for one short turn, after which a turn of acme waits. */
    async function kept(places: number, begun: string[]) {
      const gate = new StoreGate(places, () => now);
      const work = worker(gate, begun, (ms) => (now += ms));
      await work('acme', 100);
      await rounds();
      const all = [work('beta', 1), work('acme', 100)];
      await rounds();
      return { work, all };
    }

    it('keeps its one place for that one, which asks again with the answer in hand', async () => {
      const begun: string[] = [];
      const { work, all } = await kept(1, begun);
      expect(begun).toEqual(['acme', 'beta']);

      all.push(work('beta', 1));
      await rounds();
      expect(begun).toEqual(['acme', 'beta', 'beta']);

      jest.advanceTimersByTime(5);
      await Promise.all(all);
      expect(begun).toEqual(['acme', 'beta', 'beta', 'acme']);
    });

    it('lets another through that used as little', async () => {
      const begun: string[] = [];
      const { work, all } = await kept(1, begun);

      all.push(work('gamma', 1));
      await rounds();
      expect(begun).toEqual(['acme', 'beta', 'gamma']);

      jest.advanceTimersByTime(5);
      await Promise.all(all);
    });

    it('counts the time kept as used, so that nobody keeps the place for more than its share', async () => {
      const begun: string[] = [];
      const { work, all } = await kept(1, begun);
      now += 100;
      all.push(work('beta', 1));
      await rounds();

      expect(begun).toEqual(['acme', 'beta', 'beta', 'acme']);
      await Promise.all(all);
    });

    it('keeps none of several places', async () => {
      const begun: string[] = [];
      const { all } = await kept(2, begun);

      expect(begun).toEqual(['acme', 'beta', 'acme']);
      await Promise.all(all);
    });
  });

  it('counts use of late: a half after each second', async () => {
    let now = 0;
    const gate = new StoreGate(1, () => now);
    const begun: string[] = [];
    const work = worker(gate, begun, (ms) => (now += ms));
    await work('beta', 250);
    await work('acme', 400);
    await new Promise((resolve) => setImmediate(resolve));
    now = 1_000;

    await Promise.all([work('gamma', 10), work('acme', 10), work('beta', 100), work('beta', 10)]);

    expect(begun.slice(2)).toEqual(['gamma', 'beta', 'acme', 'beta']);
  });

  it('gives its place back after work that failed', async () => {
    const gate = new StoreGate(1);

    await expect(gate.through(() => Promise.reject(new Error('as asked')))).rejects.toThrow('as asked');

    await expect(gate.through(() => Promise.resolve('next'))).resolves.toBe('next');
  });

  it('gives a place that is free to those who ask with the answer in hand, before others whose organization used more', async () => {
    let now = 0;
    const gate = new StoreGate(1, () => now);
    const begun: string[] = [];
    const asks = (org: string, count: number, ms: number): Promise<void> =>
      callingAs({ priority: 'webhook', org }, async () => {
        for (let n = 1; n <= count; n += 1)
          await gate.through(async () => {
            begun.push(`${org} ${n}`);
            now += ms;
          });
      });

    await Promise.all([asks('acme', 1, 50), asks('acme', 1, 50), asks('acme', 1, 50), asks('beta', 3, 10)]);

    expect(begun).toEqual(['acme 1', 'beta 1', 'beta 2', 'beta 3', 'acme 1', 'acme 1']);
  });

  it('is shared while several organizations use its one place', async () => {
    let now = 0;
    const [gate, ofServer] = [new StoreGate(1, () => now), new StoreGate(10, () => now)];
    const isSharedAfter = async (org: string | null): Promise<boolean[]> => {
      for (const one of [gate, ofServer])
        await callingAs({ priority: 'webhook', org }, () => one.through(() => Promise.resolve()));
      return [gate.isShared, ofServer.isShared];
    };

    expect(await isSharedAfter('acme')).toEqual([false, false]);
    expect(await isSharedAfter(null)).toEqual([false, false]);
    expect(await isSharedAfter('acme')).toEqual([false, false]);
    expect(await isSharedAfter('beta')).toEqual([true, false]);
    now += 1_999;
    expect(await isSharedAfter('beta')).toEqual([true, false]);
    now += 1;
    expect(await isSharedAfter('beta')).toEqual([false, false]);
  });
});
