import { afterAll, beforeAll, describe } from '@jest/globals';
import { InMemoryJournalStore } from '../fakes/in-memory-journal-store.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { recoveryStoreSuite } from './recovery-store.suite.js';

describe('conformance/recovery-store: in memory', () =>
  recoveryStoreSuite(async () => {
    const clock = new ManualClock();
    const store = new InMemoryJournalStore(clock);
    return {
      journal: store,
      recovery: store,
      letPass: async (ms) => clock.advance(ms),
      anEvent: async () => undefined,
    };
  }));

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/recovery-store: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    recoveryStoreSuite(async () => {
      await test.reset();
      const { stores } = test;
      return {
        journal: stores.journal,
        recovery: stores.recovery,
        letPass: async (ms) => {
          const less = (column: string): string => `${column} = ${column} - ${ms} * interval '1 millisecond'`;
          await stores.dataSource.query(
            `UPDATE intents SET ${['due_at', 'lease_until', 'look_again_at'].map(less).join(', ')}`,
          );
          await stores.dataSource.query(`UPDATE attempts SET ${less('sent_at')}`);
          await stores.dataSource.query(`UPDATE runs SET ${less('due_at')}`);
        },
        anEvent: async (id) => {
          const sql = `INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, actor, repo, data, stored_at)
                       VALUES ($1, 'main', 'acme', 'push', 'webhook', 'key', '\\x00', 'null', 'null', '{}', now())`;
          await stores.dataSource.query(sql, [id]);
        },
      };
    });
  });
}
