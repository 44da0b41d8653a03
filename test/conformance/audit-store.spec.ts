import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { auditStoreSuite } from './audit-store.suite.js';

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/audit-store: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    auditStoreSuite(async () => {
      await test.reset();
      return test.stores;
    });
  });
}
