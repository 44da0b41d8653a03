import { afterAll, beforeAll, describe } from '@jest/globals';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { inboxStoreSuite } from './inbox-store.suite.js';

describe('conformance/inbox-store: in memory', () => inboxStoreSuite(async () => new InMemoryInboxStore()));

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/inbox-store: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    inboxStoreSuite(async () => {
      await test.reset();
      return test.stores.inbox;
    });
  });
}
