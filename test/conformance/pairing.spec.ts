import { afterAll, beforeAll, describe } from '@jest/globals';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { pairingSuite } from './pairing.suite.js';

describe('conformance/pairing: in memory', () => pairingSuite(async () => new InMemoryInboxStore(), { runs: 300 }));

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/pairing: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    pairingSuite(
      async () => {
        await test.reset();
        return test.stores.inbox;
      },
      { runs: 10 },
    );
  });
}
