import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { aDelivery } from '../../builders/arrivals.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../../services/test-stores.js';

describeOnPostgres('database/lock-order: deliveries that are decided', () => {
  let opened: TestStores;

  beforeAll(async () => {
    opened = await openTestStores('postgres');
  });
  afterAll(() => opened?.close());

  const query = async <Row>(sql: string, params: unknown[] = []): Promise<Row[]> =>
    (await opened.stores.dataSource.query(sql, params)) as Row[];
  const waiting = async (): Promise<number> =>
    Number(
      (
        await query<{ n: string }>(
          `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      )[0]?.n,
    );

  it('are locked in the order of their ids, whoever asks', async () => {
    const { inbox } = opened.stores;
    const deliveries = Array.from({ length: 12 }, () => aDelivery());
    await inbox.storeDeliveries(deliveries);
    const ids = deliveries.map(({ id }) => id);
    const ordered = ids.toSorted();
    const [held, behind] = [ordered[5] ?? '', ordered.slice(6)];
    const other = opened.stores.dataSource.createQueryRunner();
    await other.startTransaction();
    try {
      await other.query('SELECT 1 FROM arrivals WHERE id = $1 FOR UPDATE', [held]);

      const decided = Promise.all(
        ids.toReversed().map((id) => inbox.decide(id, (tx) => tx.close('decided', 'nothing to do'))),
      );
      while ((await waiting()) === 0);

      const free = await query<{ id: string }>(
        'SELECT id FROM arrivals WHERE id = ANY ($1) ORDER BY id FOR UPDATE SKIP LOCKED',
        [ids],
      );
      expect(free.map(({ id }) => id)).toEqual(behind);
      await other.rollbackTransaction();
      await decided;
    } finally {
      await other.release();
    }
    expect(await inbox.dueArrivals(99)).toEqual([]);
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
