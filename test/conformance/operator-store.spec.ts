import { afterAll, beforeAll, describe } from '@jest/globals';
import { InMemoryOperatorStore } from '../fakes/in-memory-operator-store.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { operatorStoreSuite } from './operator-store.suite.js';

describe('conformance/operator-store: in memory', () => operatorStoreSuite(async () => new InMemoryOperatorStore()));

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/operator-store: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    operatorStoreSuite(async () => {
      await test.reset();
      return test.stores.operators;
    });
  });
}
