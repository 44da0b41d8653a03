import { describe, expect, it } from '@jest/globals';
import { acknowledgedAndLost, endingsOf, judgePauses, mostAtOnce, startTimes } from './overload.js';
import type { Call } from './read-ledger.js';

const time = (ms: number): string => new Date(1_800_000_000_000 + ms).toISOString();
let n = 0;

function aCall(from: number, to: number, fields: Partial<Call> = {}): Call {
  n += 1;
  return {
    n,
    receivedAt: time(from),
    host: '127.0.0.1:5001',
    method: 'GET',
    path: '/api/v1/repos/acme/app/labels',
    operation: 'listLabels',
    caller: 'bot',
    body: null,
    applied: [],
    appliedAt: null,
    fault: null,
    status: 200,
    handedAt: time(to),
    answeredAt: time(to),
    goneAt: null,
    ...fields,
  };
}

const refused = (from: number, to: number, fields: Partial<Call> = {}): Call =>
  aCall(from, to, { status: 429, fault: 'told to wait', ...fields });
const threeSeconds = ({ fault }: Call): number | null => (fault === null ? null : 3);

describe('chaos/judge of an overload: pauses', () => {
  it('finds nothing where nobody calls before the time that was named', () => {
    const calls = [aCall(0, 50), refused(100, 150), aCall(3_150, 3_200)];

    expect(judgePauses(calls, threeSeconds)).toEqual({ asked: 1, early: [], mostOnTheirWay: 0, mostOfAnother: 0 });
  });

  it('finds a call before the time', () => {
    const early = aCall(3_100, 3_120);

    expect(judgePauses([refused(100, 150), early], threeSeconds).early).toEqual([
      expect.stringContaining(`call ${early.n}: 2950 ms after`),
    ]);
  });

  it('counts apart what was on its way when the forge said so', () => {
    expect(judgePauses([refused(100, 150), aCall(151, 250), aCall(400, 450)], threeSeconds)).toMatchObject({
      early: [],
      mostOnTheirWay: 2,
    });
  });

  it('counts apart what was on its way from each other process', () => {
    const two = { host: '127.0.0.1:5002' };
    const three = { host: '127.0.0.1:5003' };
    const calls = [
      refused(100, 150),
      aCall(151, 250),
      aCall(200, 250, two),
      aCall(300, 350, two),
      aCall(400, 450, three),
    ];

    expect(judgePauses(calls, threeSeconds)).toEqual({ asked: 1, early: [], mostOnTheirWay: 1, mostOfAnother: 2 });
  });

  it('holds nobody to what another was told', () => {
    const calls = [refused(100, 150), aCall(2_000, 2_050, { caller: 'bot-b' })];

    expect(judgePauses(calls, threeSeconds)).toEqual({ asked: 1, early: [], mostOnTheirWay: 0, mostOfAnother: 0 });
  });

  it('holds every process to what was told to its token', () => {
    const ofAnother = aCall(2_000, 2_050, { host: '127.0.0.1:5002' });

    expect(judgePauses([refused(100, 150), ofAnother], threeSeconds).early).toEqual([
      expect.stringContaining(`call ${ofAnother.n}: 1850 ms after`),
    ]);
  });
});

describe('chaos/judge of an overload: calls at once', () => {
  it('counts those that the forge has in hand together, of each process with each token', () => {
    const calls = [
      aCall(0, 100),
      aCall(50, 150),
      aCall(60, 90, { caller: 'bot-b' }),
      aCall(60, 90, { host: '127.0.0.1:5002' }),
      aCall(99, 200),
    ];

    expect(mostAtOnce(calls)).toBe(3);
  });

  it('does not count one together with one that was answered in the same millisecond', () => {
    expect(mostAtOnce([aCall(0, 100), aCall(100, 200)])).toBe(1);
  });

  it('counts one without an answer until its connection ended, or for ever', () => {
    const gone = { handedAt: null, answeredAt: null };

    expect(mostAtOnce([aCall(0, 0, { ...gone, goneAt: time(50) }), aCall(60, 70)])).toBe(1);
    expect(mostAtOnce([aCall(0, 0, gone), aCall(60, 70)])).toBe(2);
  });
});

describe('chaos/judge of an overload: requests', () => {
  it('tells how each ended, and counts every other end as wrong', () => {
    expect(endingsOf([202, 200, 429, 503, 503, 0, 500])).toEqual({ stored: 2, shed: { 429: 1, 503: 2 }, wrong: 2 });
  });

  it('finds what was acknowledged and is not stored', () => {
    expect(acknowledgedAndLost([202, 503, 200, 429], new Set([0]))).toEqual([2]);
    expect(acknowledgedAndLost([202, 503, 200, 429], new Set([0, 1, 2]))).toEqual([]);
  });
});

describe('chaos/judge of an overload: the other organization', () => {
  it('measures from a delivery to the first call about its repository', () => {
    const sent = new Map([
      ['beta/r-1', Date.parse(time(1_000))],
      ['beta/r-2', Date.parse(time(1_000))],
    ]);
    const calls = [
      aCall(900, 910, { path: '/api/v1/repos/beta/r-1' }),
      aCall(1_300, 1_310, { path: '/api/v1/repos/beta/r-1/labels?page=1' }),
      aCall(1_400, 1_410, { path: '/api/v1/repos/beta/r-1/labels' }),
      aCall(1_500, 1_510, { path: '/api/v1/repos/beta/r-22' }),
    ];

    expect(startTimes(sent, calls)).toEqual([300, null]);
  });
});
