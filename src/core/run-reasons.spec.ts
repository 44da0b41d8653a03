import { describe, expect, it } from '@jest/globals';
import { textOf } from './reason.js';
import {
  LATER_STEP,
  intentReason,
  isHeld,
  isReason,
  runReason,
  verdictReason,
  withNote,
  withPeople,
} from './run-reasons.js';

const limitReason = (fired: number, limit: number) => runReason('run.held.limit', { fired, limit });

const saysIt = (error: string) => verdictReason('verdict.failed', { error, at: null });

describe('core/run-reasons', () => {
  it('say how often a rule fired, and how often it may', () => {
    expect([limitReason(1, 1), limitReason(12, 10)].map(textOf)).toEqual([
      'held: 1 run in the last hour, the limit is 1 (limits.runs_per_hour)',
      'held: 12 runs in the last hour, the limit is 10 (limits.runs_per_hour)',
    ]);
  });

  it('tell a run that its limit held by its code, whatever another one says', () => {
    const words = 'held: 3 runs in the last hour, the limit is 2 (limits.runs_per_hour)';

    expect(isReason(limitReason(3, 2), 'run.held.limit')).toBe(true);
    expect(isReason(runReason('run.held.cap', { caps: [], wanted: limitReason(3, 2) }), 'run.held.limit')).toBe(false);
    expect(isReason(runReason('run.error', { because: saysIt(words) }), 'run.held.limit')).toBe(false);
    expect(isReason(null, 'run.held.limit')).toBe(false);
  });

  it('tell what was held from what says so in its words', () => {
    const wanted = runReason('run.fired', { because: saysIt('1 effect wanted') });

    expect(
      [
        limitReason(1, 1),
        runReason('run.held.frozen', { until: '2026-12-27T06:00Z', reason: 'holidays', wanted }),
        runReason('run.held.approval', { plan: 'p', wanted }),
        runReason('run.held.policy', { because: saysIt('held: a') }),
      ].every(isHeld),
    ).toBe(true);
    expect(isHeld(runReason('run.error', { because: saysIt('held: a') }))).toBe(false);
  });

  it('say which run decides in the place of another', () => {
    expect(textOf(runReason('run.coalesced', { into: 'run-9', key: 'acme/app main' }))).toBe(
      'coalesced: run run-9 decides for all of key "acme/app main" in this window',
    );
  });

  it('keep what was wanted beside what held it, and what stage and people add', () => {
    const wanted = runReason('run.fired', { because: saysIt('2 effects wanted') });

    expect(textOf(runReason('run.held.frozen', { until: '2026-12-27T06:00Z', reason: 'holidays', wanted }))).toBe(
      'held: frozen until 2026-12-27T06:00Z: holidays (2 effects wanted)',
    );
    expect(textOf(withPeople(withNote(wanted, 'canary 5%'), 'plan p by ann'))).toBe(
      '2 effects wanted; canary 5% (plan p by ann)',
    );
  });

  it.each([
    [intentReason('intent.given-up', { tries: 8, hours: null, last: saysIt('no') }), 'given up after 8 tries: no'],
    [
      intentReason('intent.given-up', { tries: null, hours: 24, last: saysIt('no') }),
      'given up after 24 hours of failures: no',
    ],
    [intentReason('intent.rule-gone', { isLocal: false }), 'the rule no longer exists'],
    [
      intentReason('intent.rule-mode', { mode: 'dry-run', isLocal: true }),
      'the rule is in mode dry-run now, in the revision of this process',
    ],
    [
      intentReason('intent.contradicted', {
        kind: 'issue.labeled',
        number: '3',
        doubt: 'late',
        now: { what: 'labels', value: [] },
      }),
      'issue.labeled of #3 waited for its turn, and no longer holds: it has no labels',
    ],
    [
      intentReason('intent.limit.private-mirrors', { isPrivate: null }),
      'not mirrored: the forge does not say that the repository is public, and the operator did not allow mirrors of private repositories (orgs[].limits.private_mirrors)',
    ],
    [
      runReason('run.echo', { depth: 3 }),
      'the breaker is open: 3 effects of ours led to this event, one after another',
    ],
  ])('%j', (reason, text) => {
    expect(textOf(reason)).toBe(text);
  });

  it('say of steps that were cancelled with an earlier one what they were cancelled for', () => {
    expect(textOf(LATER_STEP)).toBe('an earlier step of the run did not end well');
  });
});
