import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { activityStoreSuite } from './activity-store.suite.js';

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/activity-store: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    activityStoreSuite(async () => {
      await test.reset();
      return test.stores;
    });
  });
}
