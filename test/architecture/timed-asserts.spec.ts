import { describe, expect, it } from '@jest/globals';
import { lintWith } from '../builders/lint-with.js';

const lint = lintWith('no-timed-asserts');

describe('architecture/timed asserts', () => {
  it.each([
    'expect(Date.now() - began).toBeLessThan(2_000);',
    'expect(Math.round((performance.now() - began) / 1_000)).toBe(2);',
    'const took = performance.now() - began; expect(took).toBeLessThan(2_000);',
    'const end = Date.now(); expect(end - began).toBeLessThan(2_000);',
  ])('lint refuses %s', (text) => {
    expect(lint(text)).toContain('a busy machine takes any time');
  });

  it('lint takes counts, times of a clock by hand, and ages of what is stored', () => {
    const lines = [
      'expect(calls() - before).toBe(2);',
      'expect(clock.now() - began).toBe(2_000);',
      'expect(await prune(new Date(Date.now() - DAY_MS))).toBe(1);',
      'expect(storedAt).toBeLessThanOrEqual(Date.now());',
    ];

    expect(lint(lines.join('\n'))).not.toContain('local(no-timed-asserts)');
  });
});
