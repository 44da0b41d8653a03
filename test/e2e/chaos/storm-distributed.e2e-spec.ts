import { beforeAll, describe, expect, it } from '@jest/globals';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { chooseSeed } from '../support/seed.js';
import { expectNothingWrong, runFused, SLICE_MS } from './run-slice.js';
import type { StormReport } from '../../chaos/report.js';

(canStartOwnPostgres && canStartOwnRedis ? describe : describe.skip)('e2e/chaos: web and workers in one storm', () => {
  let report: StormReport;

  beforeAll(async () => {
    requireBuild();
    report = await runFused('distributed', 'distributed', chooseSeed());
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

  it('G2, G3: makes every effect once when workers are killed in the middle of their calls, answers are wrong and some effects come late', () => {
    expect(report.phases.kills).toBe(5);
    expectNothingWrong(report);
  });

  it('G5: loses and doubles nothing when Redis is emptied and killed', () => {
    expect(report.hits).toMatchObject({ 'redis flush': 2, 'redis kill': 2 });
    expectNothingWrong(report);
  });

  it('G6: loses and doubles nothing when PostgreSQL is killed and started again', () => {
    expect(report.hits).toMatchObject({ 'postgres restart': 3 });
    expectNothingWrong(report);
  });
});
