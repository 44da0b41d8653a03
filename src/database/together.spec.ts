import { describe, expect, it } from '@jest/globals';
import { StoreUnavailable } from '../core/errors.js';
import { Together } from './together.js';

describe('database/together', () => {
  it('asks for all that come in one breath at once, and gives each its own answer', async () => {
    const batches: number[][] = [];
    const together = new Together<number, string>(async (asks) => {
      batches.push([...asks]);
      return asks.map((ask) => `answer ${ask}`);
    });

    const answers = await Promise.all([1, 2, 3].map((ask) => together.ask(ask)));

    expect(answers).toEqual(['answer 1', 'answer 2', 'answer 3']);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it('keeps what comes while one batch is under way for the next', async () => {
    const batches: number[][] = [];
    let goOn = (): void => undefined;
    let begun = (): void => undefined;
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const together = new Together<number, number>(async (asks) => {
      batches.push([...asks]);
      begun();
      if (batches.length === 1) await new Promise<void>((resolve) => (goOn = resolve));
      return asks;
    });

    const first = together.ask(1);
    await isBegun;
    const later = Promise.all([together.ask(2), together.ask(3)]);
    goOn();

    expect([await first, await later]).toEqual([1, [2, 3]]);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('asks each alone when they are refused together, so that one spoils no other', async () => {
    const together = new Together<number, number>(async (asks) => {
      if (asks.includes(2)) throw new Error('not two');
      return asks;
    });

    const ends = await Promise.allSettled([1, 2, 3].map((ask) => together.ask(ask)));

    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('asks nobody again while the store is away', async () => {
    let asked = 0;
    const together = new Together<number, number>(async () => {
      asked += 1;
      throw new StoreUnavailable('away');
    });

    const ends = await Promise.allSettled([1, 2, 3].map((ask) => together.ask(ask)));

    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(asked).toBe(1);
  });

  it('works on after a failure', async () => {
    let isAway = true;
    const together = new Together<number, number>(async (asks) => {
      if (isAway) throw new StoreUnavailable('away');
      return asks;
    });
    await together.ask(1).catch(() => undefined);

    isAway = false;

    expect(await together.ask(2)).toBe(2);
  });

  it('sends no more than 64 at once', async () => {
    const sizes: number[] = [];
    const together = new Together<number, number>(async (asks) => {
      sizes.push(asks.length);
      return asks;
    });

    await Promise.all(Array.from({ length: 100 }, (_, n) => together.ask(n)));

    expect(sizes).toEqual([64, 36]);
  });
});
