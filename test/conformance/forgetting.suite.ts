import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Stores } from '../../src/store/open-stores.js';
import { aDelivery, anEntry } from '../builders/arrivals.js';
import { decideAll } from '../builders/decide-all.js';
import { sampleBody } from '../builders/sample-bodies.js';

/** What a store that forgets old work must still know, so that nothing of it comes back as new. */
export function forgettingSuite(open: () => Promise<Stores>): void {
  describe('what is forgotten', () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await open();
    });

    const text = JSON.stringify({ ...sampleBody('issues'), action: 'closed' });
    const told = () => aDelivery({ eventType: 'issues', event: 'issues', text });
    const forgotten = async (before: Date): Promise<number> => {
      let count = 0;
      for (let from: number | null = 0; from !== null;) {
        const stretch: Awaited<ReturnType<Stores['retention']['forgetRepeats']>> = await stores.retention.forgetRepeats(
          before,
          from,
        );
        count += stretch.count;
        from = stretch.next;
      }
      return count;
    };
    const events = async (): Promise<number> => (await stores.inbox.undecidedEvents(100)).length;

    it('the text of a delivery that is kept no more counts for it all the same', async () => {
      const [first, again] = [told(), told()];
      await stores.inbox.storeDeliveries([first]);
      await decideAll(stores.inbox);
      await stores.dataSource.query('DELETE FROM arrivals');
      await stores.inbox.storeDeliveries([again]);
      await decideAll(stores.inbox);

      expect(await events()).toBe(1);
      expect(await stores.inbox.list({ limit: 9 })).toEqual([]);
      expect(await stores.inbox.get(again.id)).toMatchObject({ state: 'decided', text: '', eventId: null });
    });

    it('a polled row that is kept no more is known all the same', async () => {
      const [first, again] = [anEntry({ entryKey: '7' }), anEntry({ entryKey: '7' })];
      await stores.inbox.storeEntries([first]);
      await stores.dataSource.query('DELETE FROM arrivals');

      expect(await stores.inbox.storeEntries([again])).toEqual([{ id: first.id, duplicate: true }]);
      expect(await stores.inbox.knownEntries('main', 'acme', 'feed', ['7', '8'])).toEqual(new Set(['7']));
      expect(await stores.inbox.get(again.id)).toBeNull();
    });

    it('texts of before a time are forgotten, and no others; then an equal one is new', async () => {
      const first = told();
      await stores.inbox.storeDeliveries([first]);
      await stores.inbox.storeEntries([anEntry({ entryKey: '7' })]);
      await decideAll(stores.inbox);

      expect(await forgotten(new Date(Date.now() - 60_000))).toBe(0);
      expect(await forgotten(new Date(Date.now() + 60_000))).toBe(1);

      await stores.inbox.storeDeliveries([told()]);
      await decideAll(stores.inbox);
      expect(await events()).toBe(2);
      expect((await stores.inbox.knownEntries('main', 'acme', 'feed', ['7'])).size).toBe(1);
    });

    it('finds old texts however large the table is', async () => {
      const fill = (from: number, at: string): Promise<unknown> =>
        stores.dataSource.query(
          `INSERT INTO repeats SELECT hashtextextended('k' || $1::int + n, 0), n, ('${at}-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid FROM generate_series(1, 20000) AS n`,
          [from],
        );
      await fill(0, '01900000-0000');
      await fill(20_000, '0192ffff-ffff');

      expect(await forgotten(new Date(0x0191_0000_0000))).toBe(20_000);
    });

    it('takes a hundred bytes at most for the text of a delivery, with the index', async () => {
      const rows = 20_000;
      await stores.dataSource.query('TRUNCATE repeats');
      for (let n = 0; n < rows; n += 2_000)
        await stores.dataSource.query(
          `INSERT INTO repeats SELECT hashtextextended('k' || n, 0), n, md5('a' || n)::uuid FROM generate_series($1::int + 1, $1 + 2000) AS n`,
          [n],
        );
      const size = `SELECT pg_total_relation_size('repeats')::int AS bytes`;
      const [{ bytes }] = await stores.dataSource.query<[{ bytes: number }]>(size);

      expect(bytes / rows).toBeLessThanOrEqual(100);
    });
  });
}
