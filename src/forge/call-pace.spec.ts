import { describe, expect, it } from '@jest/globals';
import { CallPace } from './budget.js';

const make = (): CallPace => new CallPace({ concurrency: 8, ratePerS: 16 });

describe('forge/call-pace', () => {
  it('asks half as fast after each refusal, and never less than an eighth', () => {
    const pace = make();
    const rates = [0, 2_000, 4_000, 6_000, 8_000].map((at) => (pace.turnedAway(at), pace.allowed().ratePerS));

    expect(rates).toEqual([8, 4, 2, 2, 2]);
  });

  it('counts what is refused within one second once', () => {
    const pace = make();
    for (const at of [0, 10, 500, 999]) pace.turnedAway(at);

    expect(pace.allowed().ratePerS).toBe(8);
  });

  it('gets its rate back with the seconds in which it is answered, not with the waiting', () => {
    const pace = make();
    pace.turnedAway(0);
    pace.answered(60_000, 10);
    expect(pace.allowed().ratePerS).toBe(9);

    for (let second = 1; second <= 20; second += 1) pace.answered(60_000 + second * 1_000, 10);

    expect(pace.allowed().ratePerS).toBe(16);
  });

  it('makes fewer calls at once while answers take much longer than usual, one at least, and all of them again afterwards', () => {
    const pace = make();
    let at = 0;
    const answers = (count: number, tookMs: number): number => {
      for (let n = 0; n < count; n += 1) pace.answered((at += 500), tookMs);
      return pace.allowed().concurrency;
    };
    expect(answers(100, 50)).toBe(8);
    expect(answers(4, 5_000)).toBe(4);
    expect(answers(8, 5_000)).toBe(1);

    expect(answers(100, 50)).toBe(8);
  });

  it('takes no notice of answers that are always slow, or that nobody minds', () => {
    const slow = make();
    for (let at = 0; at < 100; at += 1) slow.answered(at * 500, 3_000);
    const quick = make();
    for (let at = 0; at < 100; at += 1) quick.answered(at * 500, at < 50 ? 10 : 400);

    expect([slow.allowed().concurrency, quick.allowed().concurrency]).toEqual([8, 8]);
  });
});
