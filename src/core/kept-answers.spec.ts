import { describe, expect, it } from '@jest/globals';
import { KeptAnswers } from './kept-answers.js';

function aSource() {
  let now = 0;
  let asks = 0;
  const answers = new KeptAnswers<number>(() => now);
  return {
    pass: (ms: number) => void (now += ms),
    ask: (question = 'q') => answers.get(question, 100, async () => (asks += 1)),
    fail: () => answers.get('q', 100, async () => Promise.reject(new Error('away'))),
  };
}

describe('core/kept-answers', () => {
  it('asks once for those who ask together, and again when the answer is old', async () => {
    const { ask, pass } = aSource();

    expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
    pass(99);
    expect(await ask()).toBe(1);
    pass(1);
    expect(await ask()).toBe(2);
  });

  it('keeps the answer of each question', async () => {
    const { ask } = aSource();

    expect(await Promise.all([ask('a'), ask('b'), ask('a')])).toEqual([1, 2, 1]);
  });

  it('keeps no failure', async () => {
    const { ask, fail } = aSource();

    await expect(fail()).rejects.toThrow('away');
    expect(await ask()).toBe(1);
  });
});
