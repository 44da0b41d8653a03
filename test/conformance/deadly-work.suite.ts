import { decideBy } from '../builders/decide-all.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import type { PoisonMessageStore } from '../../src/pipeline/poison-message-store.port.js';
import { aDelivery, anEvent } from '../builders/arrivals.js';

export interface DeadlyWorkRig {
  readonly store: PoisonMessageStore;
  readonly inbox: Pick<InboxStore, 'storeDeliveries' | 'inBatch' | 'dueArrivals' | 'undecidedEvents'>;
}

const OVER = { leaseMs: -1_000 };
const LONG = { leaseMs: 60_000 };

/** What processes died with, counted, as every store of it counts. A lease that ended before it began stands for one that ran out. */
export function poisonMessageSuite(open: () => Promise<DeadlyWorkRig>): void {
  let rig: DeadlyWorkRig;
  let arrival: string;

  beforeEach(async () => {
    rig = await open();
    const delivery = aDelivery();
    await rig.inbox.storeDeliveries([delivery]);
    arrival = delivery.id;
  });

  const begins = async (owner: string, { leaseMs }: { leaseMs: number }, dares = 0): Promise<number | null> =>
    (await rig.store.begin({ topic: 'arrival', ids: [arrival], owner, leaseMs, dares })).get(arrival) ?? null;

  it('begins without a death', async () => {
    expect(await begins('a', LONG)).toBe(0);
  });

  it('begins those of a batch that nobody has in hand', async () => {
    await begins('a', LONG);
    const begun = await rig.store.begin({
      topic: 'arrival',
      ids: ['one', arrival, 'two'],
      owner: 'b',
      ...LONG,
      dares: 0,
    });

    expect([...begun].toSorted()).toEqual([
      ['one', 0],
      ['two', 0],
    ]);
    await rig.store.end('arrival', ['one', 'two', arrival], 'b');
    expect([
      ...(await rig.store.begin({ topic: 'arrival', ids: ['one', arrival], owner: 'c', ...LONG, dares: 0 })),
    ]).toEqual([['one', 0]]);
  });

  it('gives to nobody else what is in hand', async () => {
    await begins('a', LONG);

    expect([await begins('b', LONG), await begins('b', LONG, 9)]).toEqual([null, null]);
  });

  it('counts a death when the lease ran out: the first and the second to whoever dares so many, the third to anybody', async () => {
    await begins('a', OVER);

    expect(await begins('b', OVER)).toBeNull();
    expect(await begins('b', OVER, 1)).toBe(1);
    expect(await begins('c', OVER, 1)).toBeNull();
    expect(await begins('c', OVER, 2)).toBe(2);
    expect(await begins('d', OVER)).toBe(3);
  });

  it('holds what is renewed by its owner, and by nobody else', async () => {
    await begins('a', OVER);
    await rig.store.renew('arrival', [arrival], 'b', 60_000);
    expect(await begins('c', OVER, 1)).toBe(1);

    await rig.store.renew('arrival', [arrival], 'c', 60_000);
    expect(await begins('d', OVER, 2)).toBeNull();
  });

  it('forgets what came to its end, at the word of its owner alone', async () => {
    await begins('a', OVER);
    await rig.store.end('arrival', [arrival], 'b');
    expect(await begins('b', OVER, 1)).toBe(1);

    await rig.store.end('arrival', [arrival], 'b');
    expect(await begins('c', LONG)).toBe(0);
  });

  describe('quarantine', () => {
    it('of an arrival: it is not due any more, and nobody begins it', async () => {
      await begins('a', OVER);

      await rig.store.quarantine('arrival', arrival, 'three processes ended');

      expect(await rig.inbox.dueArrivals(9)).toEqual([]);
      expect(await rig.store.quarantined(9)).toMatchObject([
        { topic: 'arrival', id: arrival, deaths: 0, isQuarantined: true },
      ]);
      await rig.store.end('arrival', [arrival], 'a');
      expect(await begins('b', OVER, 9)).toBeNull();
    });

    it('of an arrival for what it says is ended by a person too, once', async () => {
      await decideBy(rig.inbox, arrival, (tx) =>
        tx.close('quarantined', 'it names another organization', 'tenant_other_owner'),
      );

      expect([await rig.store.release(arrival), await rig.store.release(arrival)]).toEqual([true, false]);
      expect(await rig.inbox.dueArrivals(9)).toEqual([arrival]);
    });

    it('of an event: it counts as decided', async () => {
      const event = anEvent();
      await decideBy(rig.inbox, arrival, async (tx) => {
        tx.insertEvent(event);
        tx.join(event.id);
      });
      await rig.store.begin({ topic: 'event', ids: [event.id], owner: 'a', leaseMs: 60_000, dares: 0 });
      expect(await rig.inbox.undecidedEvents(9)).toEqual([event.id]);

      await rig.store.quarantine('event', event.id, 'three processes ended');

      expect(await rig.inbox.undecidedEvents(9)).toEqual([]);
      expect(await rig.store.quarantined(9)).toMatchObject([{ topic: 'event', id: event.id }]);
      expect([await rig.store.release(event.id), await rig.store.release(event.id)]).toEqual([true, false]);
      expect(await rig.inbox.undecidedEvents(9)).toEqual([event.id]);
    });

    it('is ended by a person, once: it is due again, and its deaths are forgotten', async () => {
      await begins('a', OVER);
      await rig.store.quarantine('arrival', arrival, 'three processes ended');

      expect([await rig.store.release(arrival), await rig.store.release(arrival)]).toEqual([true, false]);
      expect(await rig.inbox.dueArrivals(9)).toEqual([arrival]);
      expect(await rig.store.quarantined(9)).toEqual([]);
      expect(await begins('b', LONG)).toBe(0);
    });
  });
}
