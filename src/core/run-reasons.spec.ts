import { describe, expect, it } from '@jest/globals';
import { textOf } from './reason.js';
import {
  LATER_STEP,
  isHeld,
  isReason,
  legacyReason,
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
        runReason('run.held.frozen', { because: 'frozen', wanted }),
        runReason('run.held.approval', { plan: 'p', wanted }),
        runReason('run.held.policy', { because: saysIt('held: a') }),
        legacyReason('run.held.legacy', { text: 'held: a' }),
      ].every(isHeld),
    ).toBe(true);
    expect(
      [runReason('run.error', { because: saysIt('held: a') }), legacyReason('legacy', { text: 'held: a' })].some(
        isHeld,
      ),
    ).toBe(false);
  });

  it('say which run decides in the place of another', () => {
    expect(textOf(runReason('run.coalesced', { into: 'run-9', key: 'acme/app main' }))).toBe(
      'coalesced: run run-9 decides for all of key "acme/app main" in this window',
    );
  });

  it('keep what was wanted beside what held it, and what stage and people add', () => {
    const wanted = runReason('run.fired', { because: saysIt('2 effects wanted') });

    expect(textOf(runReason('run.held.frozen', { because: 'frozen', wanted }))).toBe('held: frozen (2 effects wanted)');
    expect(textOf(withPeople(withNote(wanted, 'canary 5%'), 'plan p by ann'))).toBe(
      '2 effects wanted; canary 5% (plan p by ann)',
    );
  });

  it('say of steps that were cancelled with an earlier one what they were cancelled for', () => {
    expect(textOf(LATER_STEP)).toBe('an earlier step of the run did not end well');
  });
});
