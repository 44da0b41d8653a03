import { beforeAll, describe, expect, it } from '@jest/globals';
import { findingsOf } from './finding.js';
import { KEPT } from './kept-seeds.js';
import { POINTS } from './points.js';
import { simulate } from './simulate.js';
import { Tally } from './tally.js';

/** One seed for each point at which a process is killed: consecutive seeds aim at consecutive points. */
const LAST = POINTS.length;
/** Fault classes of which every one must have been met. */
const FAULTS = [
  'poison/decide',
  'poison/read',
  'read 429',
  'read 5xx-before',
  'read lost-before',
  'read not-sent',
  'stall',
  'store-after',
  'store-before',
  'wake-late',
  'wake-lost',
  'wake-twice',
  'write 429',
  'write 5xx-after',
  'write 5xx-before',
  'write late',
  'write lost-answer',
  'write lost-before',
  'write not-sent',
  'write wrong-body',
];

describe('simulation', () => {
  describe(`seeds 1 to ${LAST}, and the kept ones`, () => {
    const tally = new Tally();
    const findings: string[] = [];

    beforeAll(async () => {
      const aimed = Array.from({ length: LAST }, (_, n) => n + 1);
      for (const seed of [...KEPT.points, ...aimed]) {
        const result = await simulate(seed);
        tally.add(result);
        findings.push(...findingsOf(result, null));
      }
    }, 1_800_000);

    it('break no invariant', () => {
      expect(findings).toEqual([]);
      expect(tally.broken).toEqual([]);
    });

    // All of them are hit in 10,000 seeds, which `npm run storms -- simulation` demands.
    it('kill a process before and after nine of ten calls of a port', () => {
      expect(tally.missing().length).toBeLessThanOrEqual(POINTS.length / 10);
    });

    it('pass no point that is not on the list', () => {
      expect(tally.unlisted()).toEqual([]);
    });

    it('hit every fault class', () => {
      expect(tally.faultsHit()).toEqual(FAULTS);
    });
  });

  it('plays a seed again exactly', async () => {
    const [once, again, other] = [await simulate(7), await simulate(7), await simulate(8)];

    expect([again.hash, again.steps, again.effects]).toEqual([once.hash, once.steps, once.effects]);
    expect(other.hash).not.toBe(once.hash);
  });
});
