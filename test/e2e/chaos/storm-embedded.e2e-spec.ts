import { beforeAll, describe, expect, it } from '@jest/globals';
import { requireBuild } from '../support/built.js';
import { chooseSeed } from '../support/seed.js';
import { expectNothingWrong, runFused, SLICE_MS } from './run-slice.js';
import type { StormReport } from '../../chaos/report.js';

describe('e2e/chaos: the embedded bot in one storm', () => {
  let report: StormReport;

  beforeAll(async () => {
    requireBuild();
    report = await runFused('embedded', 'embedded', chooseSeed());
  }, SLICE_MS);

  it('G1: keeps every acknowledged delivery when its receiver is killed again and again', () => {
    expect(report.receiverKills).toBeGreaterThanOrEqual(10);
    expect(report.stored).toMatchObject({
      sent: 2_200,
      acknowledged: 2_200,
      rows: 2_200,
      events: 2_200,
      lost: [],
      doubled: [],
      withoutOneEvent: [],
      strange: 0,
    });
  });

  it('G2, G3: makes every effect once when it is killed in the middle of its calls, answers are wrong and some effects come late', () => {
    expect(report.phases.kills).toBe(5);
    expectNothingWrong(report);
  });
});
