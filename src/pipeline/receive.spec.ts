import { describe, expect, it, jest } from '@jest/globals';
import { BotError } from '../core/errors.js';
import type { NewDelivery } from '../core/arrival.js';
import { DEFAULT_WRITER_LIMITS, DeliveryWriter, NotStoredInTime } from './receive.js';
import { given } from '../../test/builders/given.js';
import type { WorkQueue } from './work-queue.port.js';

function delivery(id: string, bytes = 10, org = 'acme'): NewDelivery {
  return { id, org, body: Buffer.alloc(bytes) } as NewDelivery;
}

const NO_QUEUE = { ring: () => undefined };

/** A store whose commits end when the test says so. */
class HeldStore {
  readonly batches: string[][] = [];
  private readonly ends: Array<(outcome?: Error) => void> = [];

  storeDeliveries(batch: readonly NewDelivery[]): Promise<void> {
    this.batches.push(batch.map(({ id }) => id));
    return new Promise((resolve, reject) => {
      this.ends.push((outcome) => (outcome ? reject(outcome) : resolve()));
    });
  }

  async begun(index: number): Promise<void> {
    while (!this.ends[index]) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Ends a commit, once it has begun. */
  async end(index: number, outcome?: Error): Promise<void> {
    await this.begun(index);
    given(this.ends[index])(outcome);
  }
}

describe('pipeline/receive', () => {
  it('writes the first without waiting for more, and all that come meanwhile in one commit', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE);

    const first = writer.write(delivery('a'));
    await store.begun(0);
    const others = ['b', 'c'].map((id) => writer.write(delivery(id)));
    await store.end(0);
    await store.end(1);

    await Promise.all([first, ...others]);
    expect(store.batches).toEqual([['a'], ['b', 'c']]);
  });

  it('writes what came in one turn in one commit', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE);

    const writes = ['a', 'b', 'c'].map((id) => writer.write(delivery(id)));
    await store.end(0);
    await Promise.all(writes);

    expect(store.batches).toEqual([['a', 'b', 'c']]);
  });

  it('fills a commit by bytes too, and writes what alone is more than that', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE, { ...DEFAULT_WRITER_LIMITS, maxBatchBytes: 100 });

    const writes = [
      delivery('a', 60),
      delivery('b', 40),
      delivery('c', 500),
      delivery('d', 99),
      delivery('e', 500),
      delivery('f'),
    ].map((one) => writer.write(one));
    for (const n of [0, 1, 2, 3]) await store.end(n);
    await Promise.all(writes);

    expect(store.batches).toEqual([['a', 'b'], ['c'], ['d', 'e'], ['f']]);
  });

  it('has as many commits under way as it may', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE, { ...DEFAULT_WRITER_LIMITS, commits: 2 });

    const writes = [writer.write(delivery('a'))];
    await store.begun(0);
    writes.push(writer.write(delivery('b')));
    await store.begun(1);
    writes.push(writer.write(delivery('c')), writer.write(delivery('d')));
    await store.end(1);
    await store.end(0);
    await store.end(2);
    await Promise.all(writes);

    expect(store.batches).toEqual([['a'], ['b'], ['c', 'd']]);
  });

  it('commits what another organization sent beside the commit of a flood, and no more of the flood', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE);

    const writes = [writer.write(delivery('a1'))];
    await store.begun(0);
    for (const one of [delivery('a2'), delivery('b1', 10, 'beta'), delivery('a3'), delivery('b2', 10, 'beta')])
      writes.push(writer.write(one));
    await store.begun(1);
    writes.push(writer.write(delivery('c1', 10, 'gamma')));
    await new Promise((resolve) => setImmediate(resolve));
    expect(store.batches).toEqual([['a1'], ['b1', 'b2']]);

    await store.end(0);
    await store.begun(2);
    expect(store.batches[2]).toEqual(['a2', 'c1', 'a3']);
    await store.end(1);
    await store.end(2);
    await Promise.all(writes);
  });

  it('acknowledges nothing before its commit', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE);
    const settled = jest.fn();

    const write = writer.write(delivery('a')).then(settled);
    await Promise.resolve();
    expect(settled).not.toHaveBeenCalled();
    await store.end(0);
    await write;

    expect(settled).toHaveBeenCalledTimes(1);
  });

  it('puts no more into a commit than it may hold', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE, { ...DEFAULT_WRITER_LIMITS, maxBatch: 2 });

    const writes = ['a', 'b', 'c', 'd'].map((id) => writer.write(delivery(id)));
    for (let i = 0; i < 2; i += 1) await store.end(i);
    await Promise.all(writes);
    await writer.drained();

    expect(store.batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('rings after the commit, once for all of an organization', async () => {
    const store = new HeldStore();
    const ring = jest.fn<WorkQueue['ring']>();
    const writer = new DeliveryWriter(store, { ring });

    const first = writer.write(delivery('first'));
    await store.begun(0);
    const others = [writer.write(delivery('one')), writer.write(delivery('new'))];
    await store.end(0);
    await first;
    expect(ring.mock.calls).toEqual([['arrivals', 'acme']]);
    await store.end(1);
    await Promise.all(others);

    expect(ring.mock.calls).toEqual([
      ['arrivals', 'acme'],
      ['arrivals', 'acme'],
    ]);
  });

  it('fails all of a commit that fails, and goes on', async () => {
    const store = new HeldStore();
    const writer = new DeliveryWriter(store, NO_QUEUE);

    const lost = writer.write(delivery('a'));
    await store.end(0, new Error('the store is away'));
    await expect(lost).rejects.toThrow('the store is away');
    const kept = writer.write(delivery('b'));
    await store.end(1);

    await expect(kept).resolves.toBeUndefined();
  });

  it('keeps one delivery that cannot be held from taking the others with it', async () => {
    const unholdable = new BotError('STORE_FAILED', 'invalid byte sequence', 'permanent', { sqlState: '22021' });
    const storeDeliveries = jest.fn(async (batch: readonly NewDelivery[]): Promise<void> => {
      if (batch.some(({ id }) => id === 'bad')) throw unholdable;
    });
    const writer = new DeliveryWriter({ storeDeliveries }, NO_QUEUE);

    const [, good, bad, fine] = await Promise.allSettled(
      ['first', 'good', 'bad', 'fine'].map((id) => writer.write(delivery(id))),
    );

    expect([good?.status, bad?.status, fine?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('is full by count and by bytes, until a commit takes what waits', async () => {
    const store = new HeldStore();
    const byCount = new DeliveryWriter(store, NO_QUEUE, { ...DEFAULT_WRITER_LIMITS, maxWaiting: 1 });
    const other = new HeldStore();
    const byBytes = new DeliveryWriter(other, NO_QUEUE, { ...DEFAULT_WRITER_LIMITS, maxWaitingBytes: 100 });

    const first = byCount.write(delivery('a'));
    await store.begun(0);
    expect(byCount.isFull('acme')).toBe(false);
    void byCount.write(delivery('b'));
    expect(byCount.isFull('acme')).toBe(true);
    await store.end(0);
    await first;
    await store.end(1);
    await byCount.drained();
    const large = byBytes.write(delivery('a', 1000));
    await other.begun(0);
    expect(byBytes.isFull('acme')).toBe(false);
    const larger = byBytes.write(delivery('b', 100));

    expect(byCount.isFull('acme')).toBe(false);
    expect(byBytes.isFull('acme')).toBe(true);
    await other.end(0);
    await other.end(1);
    await Promise.all([large, larger]);
    expect(byBytes.isFull('acme')).toBe(false);
  });

  it('puts one organization after another into a commit, and rings for each', async () => {
    const store = new HeldStore();
    const ring = jest.fn<WorkQueue['ring']>();
    const writer = new DeliveryWriter(store, { ring }, { ...DEFAULT_WRITER_LIMITS, maxBatch: 3 });

    const writes = ['a', 'b', 'c', 'd'].map((id) => writer.write(delivery(id)));
    writes.push(writer.write(delivery('other', 10, 'beta')));
    for (let i = 0; i < 2; i += 1) await store.end(i);
    await Promise.all(writes);

    expect(store.batches).toEqual([
      ['a', 'other', 'b'],
      ['c', 'd'],
    ]);
    expect(ring.mock.calls).toEqual([
      ['arrivals', 'acme'],
      ['arrivals', 'beta'],
      ['arrivals', 'acme'],
    ]);
  });

  it('is full for the organization that fills it, by count or by bytes, and not for one that has less than its share', async () => {
    const limits = { ...DEFAULT_WRITER_LIMITS, maxWaiting: 4, maxWaitingBytes: 400 };
    const stores = [new HeldStore(), new HeldStore()] as const;
    const byCount = new DeliveryWriter(stores[0], NO_QUEUE, limits);
    const writes = ['a', 'b', 'c', 'd'].map((id) => byCount.write(delivery(id)));
    const byBytes = new DeliveryWriter(stores[1], NO_QUEUE, limits);
    writes.push(byBytes.write(delivery('large', 400)));

    expect([byCount, byBytes].map((writer) => [writer.isFull('acme'), writer.isFull('beta')])).toEqual([
      [true, false],
      [true, false],
    ]);
    writes.push(
      ...['e', 'f'].map((id) => byCount.write(delivery(id, 10, 'beta'))),
      byBytes.write(delivery('also large', 200, 'beta')),
    );

    expect([byCount.isFull('beta'), byBytes.isFull('beta')]).toEqual([true, true]);
    for (const store of stores) await store.end(0);
    await Promise.all(writes);
  });

  it('gives up on a commit that takes too long', async () => {
    const writer = new DeliveryWriter(new HeldStore(), NO_QUEUE, { ...DEFAULT_WRITER_LIMITS, answerWithinMs: 1 });

    await expect(writer.write(delivery('a'))).rejects.toBeInstanceOf(NotStoredInTime);
  });
});
