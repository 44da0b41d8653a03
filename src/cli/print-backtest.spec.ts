import { describe, expect, it } from '@jest/globals';
import { operationNames } from '../forge/operations.js';
import type { BacktestReport, BacktestRule, BacktestSample } from '../insight/backtest/backtest-report.js';
import { describeDoctor } from './print-doctor.js';
import { printBacktest } from './print-backtest.js';

const CAMEL_CASE = /\b[a-z]+[A-Z]\w*/g;
const CALLS = { updateLabel: 2, createLabel: 1 };
const none = { count: 0, samples: [] };
const sample: BacktestSample = {
  ...{ eventId: 'e1', kind: 'push', repo: 'acme/app', storedAt: new Date(0), why: 'x' },
  would: 'fired',
  did: null,
};

const RULE: BacktestRule = {
  ...{ rule: 'labels', kind: 'rule', mode: 'live', calls: CALLS, unknownLookups: {} },
  would: { fired: 1, 'not-fired': 0, error: 0, held: 0, unknown: 0 },
  did: { fired: 0, notFired: 0, error: 0 },
  effects: { would: 1, did: 0 },
  differences: {
    ...{ firesNow: { count: 1, samples: [sample] }, firesNoMore: none, otherEffects: none },
    ...{ failsNow: none, unknown: none },
  },
  agreement: { compared: 0, agreed: 0 },
};

const REPORT: BacktestReport = {
  ...{ org: 'acme', revision: 'r', since: new Date(0), until: new Date(1), events: 1, decisions: 1 },
  ...{ rules: [RULE], calls: CALLS, hash: 'h', notes: [] },
};

describe('cli/print-backtest', () => {
  it('says what calls do, the commonest first, in words', () => {
    const text = printBacktest(REPORT, true);

    expect(text.match(/(API )?calls, at most: .*/g)).toEqual([
      'calls, at most: change given fields of a label: 2, create a label: 1',
      'API calls, at most: change given fields of a label: 2, create a label: 1',
    ]);
    expect(text.match(CAMEL_CASE)).toBeNull();
  });

  it('and so does the doctor that lists all operations', () => {
    const operations = Object.fromEntries(operationNames.map((name) => [name, 'there' as const]));
    const forge = { id: 'main', operations, learnedAt: new Date(0) };
    const text = describeDoctor(
      { findings: 0, rows: [], next: null, total: 0, attention: 0, forges: [forge] } as unknown as Parameters<
        typeof describeDoctor
      >[0],
      true,
    );

    expect(text).toContain('create a label');
    expect(text.match(CAMEL_CASE)).toBeNull();
    expect(text.match(/ there$/gm)).toHaveLength(operationNames.length);
  });
});
