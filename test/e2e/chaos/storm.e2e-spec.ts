import { beforeAll, describe, expect, it } from '@jest/globals';
import { shortStorm } from '../../chaos/goals.js';
import { faultsOf, linesOf, type StormReport } from '../../chaos/report.js';
import { runStorm } from '../../chaos/storm.js';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { chooseSeed } from '../support/seed.js';
import { tell } from '../support/tell.js';
import { SLICE_MS } from './slice-ms.js';

const DEPLOYMENT = canStartOwnPostgres && canStartOwnRedis ? 'distributed' : 'embedded';
const STORM = shortStorm(DEPLOYMENT, chooseSeed());

describe(`e2e/chaos: a short storm, ${DEPLOYMENT}`, () => {
  let report: StormReport;

  beforeAll(async () => {
    requireBuild();
    report = await runStorm(STORM, tell);
    for (const line of linesOf(report)) tell(line);
  }, SLICE_MS);

  it('G1: keeps every acknowledged delivery when its receiver is killed again and again', () => {
    const sent = STORM.deliveries + (STORM.quietDeliveries ?? 0);
    expect(report.receiverKills).toBeGreaterThanOrEqual(3);
    expect(report.stored).toMatchObject({
      sent,
      acknowledged: sent,
      rows: sent,
      events: sent,
      lost: [],
      doubled: [],
      withoutOneEvent: [],
      strange: 0,
    });
  });

  it('G2, G3: makes every effect once when workers are killed in the middle of their calls, answers are wrong and some effects come late', () => {
    expect(report.phases.kills).toBe(STORM.kills);
    expect(faultsOf(report)).toEqual({ isVoid: false, wrong: [] });
    expect(report.made + report.waiting + report.unconfirmed).toBe(report.wanted);
  });

  (DEPLOYMENT === 'distributed' ? it : it.skip)(
    'G5, G6: goes through this with Redis emptied and killed, and PostgreSQL killed and started again',
    () => expect(report.hits).toMatchObject({ 'redis flush': 1, 'redis kill': 1, 'postgres restart': 1 }),
  );
});
