import { describe, expect, it } from '@jest/globals';
import { ok, problem } from './check.js';
import { saw } from './looks.js';
import { LOOKED, withAge, type LookedPart } from './with-age.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);
const PARTS = Object.keys(LOOKED) as LookedPart[];

describe('housekeeping/doctor/with-age', () => {
  const lines = () => [ok(saw('hook.active.on')), problem(saw('hook.active.off'), 'click')];
  const told = (part: LookedPart, atMs: number | null, failedMs: number | null = null) =>
    withAge(
      part,
      {
        look: atMs === null ? null : { seen: {}, at: ago(atMs) },
        failure: failedMs === null ? null : { message: 'no answer', at: ago(failedMs) },
      },
      NOW,
      lines,
    ).map(({ code, state, ageS }) => [code, state, ageS]);

  it.each(PARTS)('%s: tells the age of each line until twice the period of its audit', (part) => {
    const twice = 2 * LOOKED[part].everyMs;

    expect(told(part, twice)).toEqual([
      ['hook.active.on', 'ok', twice / 1000],
      ['hook.active.off', 'problem', twice / 1000],
    ]);
  });

  it.each(PARTS)('%s: what is older is a finding, and never ok', (part) => {
    const old = 2 * LOOKED[part].everyMs + 1_000;

    expect(told(part, old)).toEqual([
      ['hook.active.off', 'problem', old / 1000],
      ['look.age.stale', 'warning', old / 1000],
    ]);
  });

  it('what nobody looked at is a finding, and so is a look that failed', () => {
    expect(told('hooks', null)).toEqual([['look.age.never', 'warning', null]]);
    expect(told('hooks', null, 5_000)).toEqual([['look.answer.failed', 'warning', 5]]);
    expect(told('hooks', 60_000, 5_000)).toEqual([
      ['hook.active.on', 'ok', 60],
      ['hook.active.off', 'problem', 60],
      ['look.answer.failed', 'warning', 5],
    ]);
  });

  it('says since when nobody looked, and what to type', () => {
    const [, stale] = withAge('hooks', { look: { seen: {}, at: ago(3 * 3_600_000) }, failure: null }, NOW, lines);

    expect([stale?.said, stale?.fix[0]]).toEqual([
      'the webhooks of the organization: not looked at since 2026-11-20 09:00 UTC',
      'type: forgehand doctor --fresh',
    ]);
  });
});
