import { describe, expect, it } from '@jest/globals';
import type { StoredReport, StormReport } from '../report.js';
import { explainMissing, faultsOf } from '../report.js';
import { judge, phasesOf, resumeTimes } from './judge.js';
import type { Call } from './read-ledger.js';

const time = (ms: number): string => new Date(1_800_000_000_000 + ms).toISOString();
let n = 0;

function aCall(fields: Partial<Call>): Call {
  n += 1;
  return {
    n,
    receivedAt: time(0),
    host: '127.0.0.1:5001',
    method: 'POST',
    path: '/api/v1/repos/acme/app/labels',
    operation: 'createLabel',
    caller: 'bot',
    body: '{"name":"k1"}',
    applied: [{ kind: 'label', id: '1', what: 'created' }],
    appliedAt: time(50),
    fault: null,
    status: 201,
    handedAt: time(100),
    answeredAt: time(100),
    goneAt: null,
    ...fields,
  };
}

const label = (key: string) => ({ operation: 'createLabel', key }) as const;
const kill = (ms: number) =>
  ({ slot: 'worker-1', signal: 'SIGKILL', at: 1_800_000_000_000 + ms, host: '127.0.0.1:5001' }) as const;

describe('chaos/judge', () => {
  it('tells what is missing, doubled and asked for by nobody', () => {
    const calls = [
      aCall({}),
      aCall({}),
      aCall({ body: '{"name":"k2"}', applied: [] }),
      aCall({ body: '{"name":"stray"}' }),
      aCall({ body: '{"name":"k3"}' }),
    ];

    expect(judge(calls, [label('k1'), label('k2'), label('k3')], () => false)).toMatchObject({
      wanted: 3,
      made: 2,
      missing: ['createLabel k2'],
      doubled: ['createLabel k1'],
      phantom: ['createLabel stray'],
      repeated: [],
    });
  });

  it('counts an equal value set twice apart, and an edit that tells people twice as a double', () => {
    const variable = {
      operation: 'updateOrgVariable',
      path: '/api/v1/orgs/acme/actions/variables/K1',
      method: 'PUT',
      body: '{"value":"x"}',
    };
    const release = {
      operation: 'updateRelease',
      path: '/api/v1/repos/acme/app/releases/1',
      method: 'PATCH',
      body: '{"name":"k2"}',
    };
    const applied = [{ kind: 'any', id: '1', what: 'updated' as const }];

    const verdict = judge(
      [variable, variable, release, release].map((call) => aCall({ ...call, applied })),
      [
        { operation: 'updateOrgVariable', key: 'k1' },
        { operation: 'updateRelease', key: 'k2' },
      ],
      () => false,
    );

    expect(verdict).toMatchObject({ made: 2, doubled: ['updateRelease k2'], repeated: ['updateOrgVariable k1'] });
  });

  it('says of each kill whether a write of that process was at the forge', () => {
    const calls = [
      aCall({ receivedAt: time(1_000), answeredAt: null, goneAt: time(1_060) }),
      aCall({ receivedAt: time(2_000), answeredAt: time(2_100) }),
      aCall({ receivedAt: time(3_000), answeredAt: null, goneAt: time(3_050), host: '127.0.0.1:5002' }),
      aCall({ receivedAt: time(4_000), answeredAt: null, goneAt: time(4_050), method: 'GET' }),
    ];

    expect(phasesOf([kill(1_050), kill(2_500), kill(3_040), kill(4_040)], calls)).toEqual({
      kills: 4,
      betweenSentAndAnswer: 1,
      caught: 1,
      caughtWithEffect: 1,
    });
  });

  it('measures from a kill to the next call of that process', () => {
    expect(resumeTimes([kill(0)], [aCall({ receivedAt: time(50) }), aCall({ receivedAt: time(1_700) })])).toEqual([
      1_700,
    ]);
  });
});

describe('chaos/report', () => {
  const none = { n: 0, p50: 0, p99: 0, max: 0 };
  const good: StormReport = {
    goal: 'G2',
    seed: 1,
    deployment: 'embedded',
    profile: 'gitea',
    settleS: 6,
    tookMs: 1,
    drainedMs: 1,
    deliveries: 1,
    wanted: 1,
    made: 1,
    lost: [],
    doubled: [],
    phantom: [],
    stuck: [],
    waiting: 0,
    waitingAll: 0,
    unconfirmed: 0,
    repeated: 0,
    hits: { SIGKILL: 10 },
    planned: ['SIGKILL'],
    phases: { kills: 10, betweenSentAndAnswer: 3, caught: 3, caughtWithEffect: 3 },
    receiverKills: 0,
    isAboutCalls: true,
    ackMs: none,
    effectMs: none,
    resumeMs: none,
    flowsAgainMs: none,
    unanswered: 0,
    odd: [],
    crashes: [],
    slowStops: [],
    states: {},
    stored: null,
    keyless: null,
  };

  it('explains a missing effect by the journal: waiting, to be done, or lost', () => {
    const verdict = judge([], ['a', 'b', 'c', 'd', 'e'].map(label), () => false);
    const notDone = [
      { key: 'createLabel a', state: 'waiting', reason: 'why', isHeldUp: false },
      { key: 'createLabel b', state: 'planned', reason: null, isHeldUp: true },
      { key: 'createLabel c', state: 'planned', reason: null, isHeldUp: false },
      { key: 'createLabel d', state: 'dead', reason: 'why', isHeldUp: false },
    ] as const;

    const found = explainMissing(verdict, {
      states: {},
      notDone,
      unconfirmed: new Set(),
      waitingKeyless: 0,
      unansweredKeyless: 0,
      settledByArrival: 0,
    });

    expect(found.waiting).toEqual(['createLabel a', 'createLabel b']);
    expect(found.stuck).toEqual(['createLabel c: planned, null']);
    expect(found.lost).toEqual(['createLabel d: dead, why', 'createLabel e: the journal has no open intent for it']);
  });

  it('knows a pull request by its key, and misses no message that nobody confirmed', () => {
    const merge = aCall({ operation: 'mergePull', path: '/api/v1/repos/acme/r-3/pulls/5/merge', body: '{}' });
    const wanted = [
      { operation: 'mergePull', key: 'k1' },
      { operation: 'notify', key: 'k2' },
      { operation: 'notify', key: 'k3' },
    ] as const;
    const unconfirmed = new Set(['notify k2']);
    const counts = { states: {}, notDone: [], waitingKeyless: 0, unansweredKeyless: 0, settledByArrival: 0 };

    const verdict = judge([merge, merge], wanted, () => false, new Map([['r-3#5', 'k1']]));

    expect(verdict).toMatchObject({ made: 1, doubled: ['mergePull k1'], phantom: [] });
    expect(explainMissing(verdict, { ...counts, unconfirmed })).toMatchObject({
      lost: ['notify k3: the journal has no open intent for it'],
      unconfirmed: ['notify k2'],
    });
  });

  const stored: StoredReport = {
    sent: 3,
    acknowledged: 3,
    rows: 3,
    events: 3,
    lost: [],
    doubled: [],
    withoutOneEvent: [],
    strange: 0,
  };

  it('passes a run whose deliveries are each there once, with one event', () => {
    expect(faultsOf({ ...good, stored })).toEqual({ isVoid: false, wrong: [] });
  });

  it.each<[string, Partial<StoredReport>, RegExp]>([
    ['a delivery that was never acknowledged', { acknowledged: 2 }, /2 of 3 deliveries were acknowledged/],
    ['a row too few', { rows: 2 }, /2 rows and 3 events of 3/],
    ['an event too many', { events: 4 }, /3 rows and 4 events of 3/],
    [
      'an acknowledged delivery without its row',
      { lost: [7] },
      /1 acknowledged deliveries without their row, such as 7/,
    ],
    ['one with two rows', { doubled: [7] }, /1 deliveries with more than one row, such as 7/],
    [
      'one without an event of its own',
      { withoutOneEvent: [7] },
      /1 deliveries without one event of their own, such as 7/,
    ],
    ['a row that nobody sent', { strange: 1 }, /1 rows that nobody sent/],
  ])('finds fault with %s', (_what, change, wrong) => {
    expect(faultsOf({ ...good, stored: { ...stored, ...change } }).wrong).toEqual([expect.stringMatching(wrong)]);
  });

  it('passes a good run, and is void when too few kills fell into a call', () => {
    expect(faultsOf(good)).toEqual({ isVoid: false, wrong: [] });
    expect(faultsOf({ ...good, phases: { ...good.phases, betweenSentAndAnswer: 2 } })).toEqual({
      isVoid: true,
      wrong: [],
    });
  });

  it.each<[string, Partial<StormReport>, RegExp]>([
    ['a lost effect', { lost: ['x'] }, /1 lost/],
    ['a doubled one', { doubled: ['x'] }, /1 doubled/],
    ['a phantom', { phantom: ['x'] }, /1 phantom/],
    ['a stuck intent', { stuck: ['x'] }, /1 stuck/],
    ['a process that ended by itself', { crashes: ['x'] }, /ended by themselves/],
    ['a planned fault that was not hit', { planned: ['SIGKILL', 'late'] }, /"late" was never hit/],
    ['a person asked where a read would do', { waitingAll: 1 }, /1 wait for a person/],
    [
      'numbers of the keyless that differ',
      { keyless: { waiting: 2, unanswered: 4, settledByArrival: 1, appliedTwice: 0 } },
      /2 wait, and 4 - 1 should/,
    ],
  ])('does not pass %s', (_, change, told) => {
    expect(faultsOf({ ...good, ...change }).wrong).toEqual([expect.stringMatching(told)]);
  });
});
