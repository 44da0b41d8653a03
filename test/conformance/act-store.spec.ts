import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { actStoreSuite } from './act-store.suite.js';

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/act-store: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    actStoreSuite(async () => {
      await test.reset();
      return test.stores;
    });
  });
}
