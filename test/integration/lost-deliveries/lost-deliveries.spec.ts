import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openTestStores, type TestStores } from '../../services/test-stores.js';
import { loseDeliveries } from './lose-deliveries.js';

const LONG_MS = 600_000;

describe('integration/lost-deliveries', () => {
  let test: TestStores;
  beforeAll(async () => {
    test = await openTestStores('embedded');
  });
  beforeEach(() => test.reset());
  afterAll(() => test?.close());

  it(
    'repairs every fact that the feed tells within two polls, none twice, and lists exactly the deliveries that were lost (2,000 of them made)',
    async () => {
      const report = await loseDeliveries({ facts: 2_000, seed: 4, stores: test.stores });

      expect(report).toMatchObject({ late: [], doubled: [], untold: [], invented: [], idlePages: 1 });
      expect(report.visible).toBeGreaterThanOrEqual(1_900);
      expect(report.dropped).toBeGreaterThan(report.visible / 4);
      expect(report.whileDown).toBeGreaterThan(100);
      expect(report.byClass.down).toBeGreaterThan(report.whileDown / 2);
    },
    LONG_MS,
  );
});
