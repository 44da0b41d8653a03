import { describe, expect, it } from '@jest/globals';
import { overloadOf } from '../goals.js';
import { linesOfOverload, wrongOf, type OverloadReport } from './overload-report.js';
import { stagesOf } from './stages.js';

const good: OverloadReport = {
  overload: overloadOf('embedded', 'slice', 1),
  tookMs: 1,
  drainedMs: 1,
  offeredPerS: 2_000,
  answerMs: { p50: 1, p99: 1 },
  requests: 12,
  endings: { stored: 10, shed: { 429: 1, 503: 1 }, wrong: 0 },
  failures: [],
  lostDeliveries: [],
  wanted: 1,
  made: 1,
  lost: [],
  doubled: [],
  phantom: [],
  stuck: [],
  left: 0,
  pauses: { asked: 1, early: [], mostOnTheirWay: 3, mostOfAnother: 4 },
  concurrency: 4,
  mostAtOnce: 4,
  calls: 3,
  crashes: [],
  quiet: {
    sent: 1,
    shed: 0,
    neverBegun: 0,
    aloneP95Ms: 100,
    floodP95Ms: 250,
    drainP95Ms: 100,
    floodStages: [
      stagesOf(1_000, { at: 1_030 }, { readAt: 1_010, decidedAt: 1_040 }, 1_100),
      stagesOf(2_000, { at: 2_100 }, { readAt: 2_004, decidedAt: 2_090 }, 2_250),
    ],
  },
  memoryMb: [
    { slot: 'web-1', before: 100, most: 150 },
    { slot: 'worker-1', before: 100, most: 301 },
  ],
};

describe('chaos/overload', () => {
  it('passes a run in which everything held, whatever time and memory it took: those are figures', () => {
    expect(wrongOf(good)).toEqual([]);
    expect(linesOfOverload(good).filter((line) => line.startsWith('goal '))).toEqual([
      'goal G14-embedded-memory MB: wanted 150.0, measured 201.00, missed',
      'goal G14-embedded-other-org-p95 times: wanted 2.0, measured 2.50, missed',
    ]);
  });

  it('tells where the other organization waited, stage by stage', () => {
    expect(linesOfOverload(good)).toContain(
      '  in the flood, p50 and p95 of each stage: received 4, 10 ms; acknowledged 20, 96 ms; decided 30, 86 ms; called 60, 160 ms',
    );
  });

  it.each<[string, Partial<OverloadReport>, RegExp]>([
    [
      'a request that ended otherwise',
      { endings: { ...good.endings, wrong: 1 }, failures: ['7: reset'] },
      /1 requests .* such as 7: reset/,
    ],
    ['a flood of which nothing was taken', { endings: { ...good.endings, stored: 0 } }, /nothing of the flood/],
    [
      'a delivery that was acknowledged and not stored',
      { lostDeliveries: [7] },
      /1 deliveries acknowledged and not stored, such as 7/,
    ],
    ['a lost effect', { lost: ['x'] }, /1 lost/],
    ['a doubled one', { doubled: ['x'] }, /1 doubled/],
    ['a phantom', { phantom: ['x'] }, /1 phantom/],
    ['a stuck intent', { stuck: ['x'] }, /1 stuck/],
    ['a backlog that does not drain', { left: 1 }, /1 were left/],
    ['a forge that never said "too many"', { pauses: { ...good.pauses, asked: 0 } }, /never hit/],
    ['a call before the time named', { pauses: { ...good.pauses, early: ['x'] } }, /1 calls before the time/],
    [
      'more calls on their way than there can be',
      { pauses: { ...good.pauses, mostOnTheirWay: 4 } },
      /4 calls were on their way/,
    ],
    [
      'more of another process on their way than it may make',
      { pauses: { ...good.pauses, mostOfAnother: 5 } },
      /5 calls of one other process/,
    ],
    ['more calls at once than configured', { mostAtOnce: 5 }, /5 calls at once of one process, 4 are configured/],
    [
      'a quiet delivery that nothing follows',
      { quiet: { ...good.quiet, neverBegun: 1 } },
      /1 deliveries of the quiet organization/,
    ],
    ['a process that ended by itself', { crashes: ['x'] }, /ended by themselves/],
  ])('does not pass %s', (_, change, told) => {
    expect(wrongOf({ ...good, ...change })).toEqual([expect.stringMatching(told)]);
  });
});
