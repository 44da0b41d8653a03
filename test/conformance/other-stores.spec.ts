import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { otherStoresSuite } from './other-stores.suite.js';

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/other-stores: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    otherStoresSuite(async () => {
      await test.reset();
      return test.stores;
    });
  });
}
