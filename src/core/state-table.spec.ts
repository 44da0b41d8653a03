import { describe, expect, it } from '@jest/globals';
import { ENDED_STATES, INTENT_STATES, isEnded, type IntentState } from './states.js';
import { BAD_ENDS, GOOD_ENDS, HOLDING_STATES, canMove, isBadEnd, runStateOf, waitsForApproval } from './state-table.js';

/** Written out a second time on purpose: a changed move must be changed in two places. */
const ALLOWED = new Set([
  'planned>claimed',
  'planned>suppressed',
  'planned>cancelled',
  'claimed>planned',
  'claimed>sent',
  'claimed>unchanged',
  'claimed>conflict',
  'claimed>refused',
  'claimed>suppressed',
  'claimed>cancelled',
  'claimed>waiting',
  'claimed>dead',
  'sent>done',
  'sent>unchanged',
  'sent>planned',
  'sent>refused',
  'sent>conflict',
  'sent>unknown',
  'sent>dead',
  'unknown>waiting',
  'unknown>planned',
  'unknown>done',
  'unknown>unchanged',
  'unknown>refused',
  'unknown>suppressed',
  'unknown>conflict',
  'unknown>dead',
  'waiting>planned',
  'waiting>done',
  'waiting>unchanged',
  'waiting>refused',
  'waiting>suppressed',
  'waiting>conflict',
  'waiting>cancelled',
  'waiting>dead',
]);
const REVIVED = new Set(['dead>planned', 'refused>planned', 'cancelled>planned', 'suppressed>planned']);

const pairs = INTENT_STATES.flatMap((from) => INTENT_STATES.map((to) => [from, to] as const));

describe('core/state-table', () => {
  it.each(pairs)('%s -> %s is allowed or refused as written', (from, to) => {
    expect(canMove(from, to)).toBe(ALLOWED.has(`${from}>${to}`));
    expect(canMove(from, to, 'retry')).toBe(REVIVED.has(`${from}>${to}`));
    expect(canMove(from, to, 'approval')).toBe(['waiting>planned', 'waiting>cancelled'].includes(`${from}>${to}`));
  });

  it('lets no ended intent move but by a retry', () => {
    for (const from of ENDED_STATES) expect(INTENT_STATES.filter((to) => canMove(from, to))).toEqual([]);
  });

  it('lets an intent be sent from no state but claimed', () => {
    expect(INTENT_STATES.filter((from) => canMove(from, 'sent'))).toEqual(['claimed']);
  });

  it('knows every ended state as a good or a bad end, never both', () => {
    const isGoodEnd = (state: IntentState): boolean => (GOOD_ENDS as readonly IntentState[]).includes(state);
    for (const state of INTENT_STATES) {
      expect(isGoodEnd(state) || isBadEnd(state)).toBe(isEnded(state));
      expect(isGoodEnd(state) && isBadEnd(state)).toBe(false);
    }
    expect([...GOOD_ENDS, ...BAD_ENDS].sort()).toEqual([...ENDED_STATES].sort());
    expect(HOLDING_STATES.filter((state) => isEnded(state))).toEqual([]);
  });

  it('has the effect key held from the claim until an end', () => {
    expect([...HOLDING_STATES].sort()).toEqual(
      INTENT_STATES.filter((state) => !isEnded(state) && state !== 'planned').sort(),
    );
  });

  it('knows what waits for consent from what waits because nobody knows its outcome', () => {
    expect(waitsForApproval({ state: 'waiting', approval: 'wanted' })).toBe(true);
    for (const approval of ['given', 'denied', null, undefined] as const)
      expect(waitsForApproval({ state: 'waiting', approval })).toBe(false);
    for (const state of INTENT_STATES.filter((other) => other !== 'waiting'))
      expect(waitsForApproval({ state, approval: 'wanted' })).toBe(false);
  });

  it.each<[IntentState[], string]>([
    [[], 'done'],
    [['done', 'unchanged', 'suppressed'], 'done'],
    [['done', 'planned'], 'open'],
    [['done', 'waiting'], 'open'],
    [['refused', 'unknown'], 'open'],
    [['done', 'refused', 'cancelled'], 'failed'],
    [['conflict'], 'failed'],
    [['dead', 'done'], 'failed'],
    [['done', 'cancelled'], 'cancelled'],
  ])('intents %j => run is %s', (states, expected) => {
    expect(runStateOf(states)).toBe(expected);
  });
});
