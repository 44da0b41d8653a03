import { afterAll, beforeAll, describe } from '@jest/globals';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { replaysSuite } from './replays.suite.js';

describe('conformance/replays: in memory', () =>
  replaysSuite(async () => {
    const inbox = new InMemoryInboxStore();
    return { inbox, release: async (id) => inbox.reopen(id) };
  }));

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/replays: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    replaysSuite(async () => {
      await test.reset();
      const { inbox, poisonMessages } = test.stores;
      return { inbox, release: (id) => poisonMessages.release(id) };
    });
  });
}
