import { describe, expect, it } from '@jest/globals';
import { severalAtOnce } from './several-at-once.js';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('platform/several-at-once', () => {
  it('works on so many at once, begins in their order, and on each once', async () => {
    const begun: number[] = [];
    let [now, most] = [0, 0];

    await severalAtOnce(
      3,
      Array.from({ length: 10 }, (_, n) => n),
      async (n) => {
        begun.push(n);
        most = Math.max(most, (now += 1));
        for (let turns = 10 - n; turns > 0; turns -= 1) await turn();
        now -= 1;
      },
    );

    expect([begun, most, now]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3, 0]);
  });

  it('ends where there is nothing to do, and tells what failed', async () => {
    await severalAtOnce(3, [], () => Promise.reject(new Error('nothing')));

    await expect(
      severalAtOnce(2, [1, 2, 3], async (n) => (n === 2 ? Promise.reject(new Error('two')) : n)),
    ).rejects.toThrow('two');
  });
});
