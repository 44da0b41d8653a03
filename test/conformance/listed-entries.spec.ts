import { afterAll, beforeAll, describe } from '@jest/globals';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { listedEntriesSuite } from './listed-entries.suite.js';

describe('conformance/listed-entries: in memory', () => listedEntriesSuite(async () => new InMemoryInboxStore()));

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/listed-entries: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    listedEntriesSuite(async () => {
      await test.reset();
      return test.stores.inbox;
    });
  });
}
