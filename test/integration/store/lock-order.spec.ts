import { decideBy } from '../../builders/decide-all.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { aDelivery } from '../../builders/arrivals.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../../services/test-stores.js';

describeOnPostgres('database/lock-order: deliveries that are decided', () => {
  let opened: TestStores;

  beforeAll(async () => {
    opened = await openTestStores('postgres');
  });
  afterAll(() => opened?.close());

  it('are passed over by whoever asks while another decides them, and are dealt to nobody', async () => {
    const { inbox } = opened.stores;
    const deliveries = Array.from({ length: 12 }, () => aDelivery());
    await inbox.storeDeliveries(deliveries);
    const ids = deliveries.map(({ id }) => id);
    const held = ids[5] ?? '';
    const line = { org: deliveries[0]?.org ?? '', except: [] };
    const other = opened.stores.dataSource.createQueryRunner();
    await other.startTransaction();
    try {
      await other.query('SELECT 1 FROM arrivals WHERE id = $1 FOR UPDATE', [held]);

      expect(await inbox.dueArrivals(99, line)).toEqual(ids.filter((id) => id !== held).toSorted());
      const decided = await Promise.all(
        ids.toReversed().map((id) => decideBy(inbox, id, async (tx) => (tx.close('decided', 'nothing to do'), id))),
      );

      expect(decided).toEqual(ids.toReversed().map((id) => (id === held ? null : id)));
      await other.rollbackTransaction();
    } finally {
      await other.release();
    }
    expect(await inbox.dueArrivals(99)).toEqual([held]);
    expect(await inbox.dueArrivals(99, line)).toEqual([held]);
    expect(await inbox.dueArrivals(99, { ...line, except: [held] })).toEqual([]);
    await decideBy(inbox, held, (tx) => tx.close('decided', 'nothing to do'));
  });

  it('hold up nobody who stores others meanwhile', async () => {
    const { inbox } = opened.stores;
    const deliveries = Array.from({ length: 12 }, () => aDelivery());
    await inbox.storeDeliveries(deliveries);
    const other = opened.stores.dataSource.createQueryRunner();
    await other.startTransaction();
    try {
      await other.query('LOCK TABLE arrivals IN ROW EXCLUSIVE MODE');
      await other.query('SELECT 1 FROM arrivals FOR UPDATE');

      await inbox.storeDeliveries(deliveries.map((told) => ({ ...told, id: aDelivery().id })));

      await other.rollbackTransaction();
    } finally {
      await other.release();
    }
    expect(await inbox.dueArrivals(99)).toHaveLength(24);
  });
});
