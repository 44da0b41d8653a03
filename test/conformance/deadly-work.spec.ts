import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { poisonMessageSuite } from './deadly-work.suite.js';

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`conformance/deadly-work: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());
    poisonMessageSuite(async () => {
      await test.reset();
      return { store: test.stores.poisonMessages, inbox: test.stores.inbox };
    });
  });
}
