import { describe, expect, it } from '@jest/globals';
import { findFlip, FLIP_WINDOW_MS, type FulfilledWish } from './flip-breaker.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const A = { rule: 'a', params: { name: 'V', value: '1' } };
const B = { rule: 'b', params: { name: 'V', value: '2' } };
const history = (wishes: ReadonlyArray<typeof A>, agoMs = 1_000): FulfilledWish[] =>
  wishes.map((wish, n) => ({ ...wish, sentAt: new Date(NOW.getTime() - agoMs * (n + 1)) }));

describe('pipeline/execute/flip-breaker', () => {
  it('finds two rules that set one thing back and forth after two rounds, and names both', () => {
    expect(findFlip(A, history([B, A, B, A]), NOW)).toEqual(['a', 'b']);
  });

  it.each<[string, ReadonlyArray<typeof A>, number]>([
    ['one round', [B, A], 1_000],
    ['a round and a half', [B, A, B], 1_000],
    ['one rule that changes its mind', [{ ...B, rule: 'a' }, A, { ...B, rule: 'a' }, A], 1_000],
    ['two rules that want the same', [{ ...A, rule: 'b' }, A, { ...A, rule: 'b' }, A], 1_000],
    ['a third rule in between', [B, { ...A, rule: 'c' }, B, A], 1_000],
    ['rounds that lie far apart', [B, A, B, A], FLIP_WINDOW_MS],
  ])('is not: %s', (_, wishes, agoMs) => {
    expect(findFlip(A, history(wishes, agoMs), NOW)).toBeNull();
  });

  it('compares sealed values by their hash', () => {
    const sealed = (rule: string, hash: string, seal: string) => ({
      rule,
      params: { value: { $sealed: seal, $hash: hash } },
    });
    const before = [sealed('b', 'y', '1'), sealed('a', 'x', '2'), sealed('b', 'y', '3'), sealed('a', 'x', '4')];

    expect(
      findFlip(
        sealed('a', 'x', '5'),
        before.map((wish) => ({ ...wish, sentAt: NOW })),
        NOW,
      ),
    ).toEqual(['a', 'b']);
  });
});
