import { describe, expect, it } from '@jest/globals';
import { JudgeTurns } from './event-loop-turns.js';

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('webhooks/judge-turns', () => {
  it('judges two milliseconds in each round of the loop, one organization after another', async () => {
    let now = 0;
    const turns = new JudgeTurns(() => now);
    const judged: string[] = [];
    const judge = (what: string) => () => {
      judged.push(what);
      now += 1;
    };
    for (const n of [1, 2, 3, 4]) turns.add('acme', judge(`acme ${n}`));
    turns.add('beta', judge('beta 1'));

    await nextRound();
    expect(judged).toEqual(['acme 1', 'beta 1']);
    expect(turns.size).toBe(3);
    await nextRound();
    await nextRound();

    expect(judged).toEqual(['acme 1', 'beta 1', 'acme 2', 'acme 3', 'acme 4']);
  });

  it('goes on with what comes after it had nothing left', async () => {
    const turns = new JudgeTurns(() => 0);
    const judged: number[] = [];
    turns.add('acme', () => void judged.push(1));
    await nextRound();

    turns.add('acme', () => void judged.push(2));
    await nextRound();

    expect(judged).toEqual([1, 2]);
  });
});
