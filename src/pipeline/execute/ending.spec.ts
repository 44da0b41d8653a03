import { describe, expect, it } from '@jest/globals';
import { RETRY_TABLE, judgeFailure, type Failure } from './settle.js';

const most = (): number => 1;
const first = { triesBefore: 0, failingForMs: 0 };

describe('pipeline/execute/retry-policy', () => {
  it.each<[Failure, string]>([
    ['not-sent', 'planned'],
    ['read-failed', 'planned'],
    ['no-answer', 'planned'],
    ['cause-unread', 'planned'],
    ['internal', 'planned'],
    ['stood-still', 'planned'],
    ['rate-limited', 'planned'],
    ['refused', 'refused'],
    ['moved', 'refused'],
    ['not-offered', 'refused'],
    ['unknown', 'unknown'],
    ['service-away', 'planned'],
    ['service-limits', 'planned'],
  ])('%s => %s', (failure, to) => {
    expect(judgeFailure({ failure, ...first }, most).to).toBe(to);
  });

  it('names every kind of failure once', () => {
    expect(Object.keys(RETRY_TABLE).sort()).toEqual([
      'cause-unread',
      'internal',
      'moved',
      'no-answer',
      'not-offered',
      'not-sent',
      'rate-limited',
      'read-failed',
      'refused',
      'service-away',
      'service-limits',
      'stood-still',
      'unknown',
    ]);
  });

  it('lets what fails for a reason of its own step aside, and nothing else', () => {
    const aside = Object.keys(RETRY_TABLE).filter((failure) => {
      const verdict = judgeFailure({ failure: failure as Failure, ...first }, most);
      return verdict.to === 'planned' && verdict.aside === true;
    });

    expect(aside.sort()).toEqual(['cause-unread', 'internal', 'read-failed', 'service-away', 'service-limits']);
  });

  it('waits longer from try to try, up to a quarter of an hour', () => {
    const waits = [0, 1, 2, 3, 4, 5, 6].map((triesBefore) =>
      judgeFailure({ failure: 'not-sent', triesBefore, failingForMs: 0 }, most),
    );

    expect(waits.map((verdict) => (verdict.to === 'planned' ? verdict.waitMs : null))).toEqual([
      1_000, 4_000, 16_000, 64_000, 256_000, 900_000, 900_000,
    ]);
  });

  it('spreads waits between half and the whole', () => {
    const [least, whole] = [
      judgeFailure({ failure: 'not-sent', ...first }, () => 0),
      judgeFailure({ failure: 'not-sent', ...first }, most),
    ];

    expect([least, whole]).toEqual([
      { to: 'planned', waitMs: 500, failed: 'counted' },
      { to: 'planned', waitMs: 1_000, failed: 'counted' },
    ]);
  });

  it('gives up after eight tries', () => {
    expect(judgeFailure({ failure: 'not-sent', triesBefore: 7, failingForMs: 0 }, most)).toEqual({
      to: 'dead',
      tries: 8,
      hours: null,
    });
  });

  it('gives up after a day', () => {
    for (const failure of ['not-sent', 'stood-still', 'rate-limited'] as const) {
      expect(judgeFailure({ failure, triesBefore: 1, failingForMs: 24 * 3_600_000 }, most)).toEqual({
        to: 'dead',
        tries: null,
        hours: 24,
      });
    }
  });

  it.each([
    [7, 7_000],
    [0, 0],
    [86_400, 900_000],
  ])('never comes back before Retry-After %d s, nor later than a quarter of an hour', (retryAfterS, atLeastMs) => {
    const verdict = judgeFailure({ failure: 'rate-limited', ...first, retryAfterS }, () => 0);

    expect(verdict).toEqual({ to: 'planned', waitMs: atLeastMs, failed: 'uncounted' });
  });

  it('burns no try where the process stood still, and comes back within a second each time', () => {
    expect(judgeFailure({ failure: 'stood-still', triesBefore: 7, failingForMs: 0 }, most)).toEqual({
      to: 'planned',
      waitMs: 1_000,
      failed: 'uncounted',
    });
  });

  it('burns no try where the forge asked to wait', () => {
    expect(judgeFailure({ failure: 'rate-limited', triesBefore: 7, failingForMs: 0 }, most)).toMatchObject({
      to: 'planned',
      failed: 'uncounted',
    });
  });
});
