import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeOnPostgres, openTestStores, type TestStores } from '../../services/test-stores.js';
import { loseDeliveries } from './lose-deliveries.js';

/** The whole count where statements are quick, a small one on the embedded store. */
for (const [kind, describeIt, facts, actEveryS] of [
  ['embedded', describe, 300, 5],
  ['postgres', describeOnPostgres, 2_000, 1],
] as const) {
  describeIt(`integration/lost-deliveries: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    beforeEach(() => test.reset());
    afterAll(() => test?.close());

    it(`of ${facts} deliveries, half of them dropped and ten minutes missed, every fact that a row tells is there within two polls, none twice, and the gaps are exactly those`, async () => {
      const report = await loseDeliveries({ facts, seed: 4, actEveryS, stores: test.stores });

      expect(report).toMatchObject({ late: [], doubled: [], untold: [], invented: [], idlePages: 1 });
      // Deliveries of jobs that wait, or that started and ended between two visits, are told by no row.
      expect(report.visible).toBeGreaterThan(facts * 0.85);
      expect(report.ofTasks).toBeGreaterThan(0);
      expect(report.dropped).toBeGreaterThan(report.visible / 4);
      expect(report.whileDown).toBeGreaterThan(50 / actEveryS);
      expect(report.byClass.down).toBeGreaterThan(report.whileDown / 2);
    });
  });
}
