import { afterAll, beforeAll, describe } from '@jest/globals';
import { InMemoryJournalStore } from '../fakes/in-memory-journal-store.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { journalStoreSuite } from './journal-store.suite.js';

describe('conformance/journal-store: in memory', () =>
  journalStoreSuite(async () => {
    const clock = new ManualClock();
    return {
      journal: new InMemoryJournalStore(clock),
      expireLeases: async () => clock.advance(60_000),
      endHolds: async () => clock.advance(24 * 3_600_000),
      now: () => clock.now(),
    };
  }));

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/journal-store: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    journalStoreSuite(async () => {
      await test.reset();
      return {
        journal: test.stores.journal,
        expireLeases: async () =>
          void (await test.stores.dataSource.query(
            `UPDATE intents SET lease_until = clock_timestamp() WHERE lease_until IS NOT NULL`,
          )),
        endHolds: async () =>
          void (await test.stores.dataSource.query(`UPDATE intents SET due_at = clock_timestamp() WHERE held`)),
        now: () => new Date(),
      };
    });
  });
}
