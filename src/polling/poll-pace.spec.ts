import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { leftForPolls, paceOf, type PollNeeds } from './poll-pace.js';

const NONE: PollNeeds = { ratePerS: 10, quietPerS: 0, hastePerS: 0, urgentPerS: 0, auditsPerS: 0 };

describe('polling/poll-pace', () => {
  it.each([
    ['nothing to poll', {}, [1, 1, true]],
    ['half of the rate', { quietPerS: 5 }, [1, 1, true]],
    ['twice as much as half of the rate', { quietPerS: 10 }, [2, 1, false]],
    ['what audits need is not there for polls', { quietPerS: 4, auditsPerS: 1 }, [1, 1, true]],
    ['audits take an eighth of the rate at most', { quietPerS: 3.75, auditsPerS: 1000 }, [1, 1, true]],
    ['haste is given up before periods get longer', { quietPerS: 4, hastePerS: 3 }, [1, 1, false]],
    ['urgent ones keep their period', { quietPerS: 10, urgentPerS: 2 }, [10 / 3, 1, false]],
    ['up to a quarter of the rate', { quietPerS: 10, urgentPerS: 5 }, [4, 2, false]],
    ['and are never slower than the quiet ones', { quietPerS: 1, urgentPerS: 14 }, [3, 3, false]],
    ['urgent ones alone may have all', { urgentPerS: 10 }, [2, 2, false]],
    ['no limit', { ratePerS: Number.POSITIVE_INFINITY, quietPerS: 1e6, urgentPerS: 1e6 }, [1, 1, true]],
  ] as const)('%s', (_, needs, [quiet, urgent, isHasty]) => {
    const pace = paceOf({ ...NONE, ...needs });

    expect(pace.quiet).toBeCloseTo(quiet, 9);
    expect(pace.urgent).toBeCloseTo(urgent, 9);
    expect(pace.isHasty).toBe(isHasty);
  });

  it('fits, wastes nothing, and never makes an urgent one wait longer than a quiet one', () => {
    const calls = fc.double({ min: 0, max: 10_000, noNaN: true });
    const needs = fc.record<PollNeeds>({
      ratePerS: fc.double({ min: 0.01, max: 1000, noNaN: true }),
      quietPerS: calls,
      hastePerS: calls,
      urgentPerS: calls,
      auditsPerS: calls,
    });
    fc.assert(
      fc.property(needs, (one) => {
        const { quiet, urgent, isHasty } = paceOf(one);
        const left = leftForPolls(one);
        const used = one.quietPerS / quiet + one.urgentPerS / urgent + (isHasty ? one.hastePerS : 0);
        expect(used).toBeLessThanOrEqual(left * (1 + 1e-9));
        expect(urgent).toBeGreaterThanOrEqual(1);
        expect(quiet).toBeGreaterThanOrEqual(urgent * (1 - 1e-9));
        expect(Number.isFinite(quiet)).toBe(true);
        if (one.urgentPerS <= one.ratePerS / 4) expect(urgent).toBe(1);
        if (quiet > 1 + 1e-9) expect(used).toBeGreaterThanOrEqual(left * (1 - 1e-9));
      }),
    );
  });

  it('never reads a quiet organization sooner because there is more to read', () => {
    const calls = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(calls, calls, calls, (quietPerS, urgentPerS, more) => {
        const before = paceOf({ ...NONE, quietPerS, urgentPerS });
        const after = paceOf({ ...NONE, quietPerS: quietPerS + more, urgentPerS });
        expect(after.quiet).toBeGreaterThanOrEqual(before.quiet * (1 - 1e-9));
      }),
    );
  });
});
