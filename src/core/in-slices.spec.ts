import { describe, expect, it } from '@jest/globals';
import { Breathing, inSlices } from './in-slices.js';

describe('core/in-slices', () => {
  it('gives the event loop its turn before long work is done, and the result after it', async () => {
    const order: string[] = [];
    let isServed = false;
    setImmediate(() => {
      isServed = true;
      order.push('other work');
    });
    function* untilServed(): Generator<void, string> {
      while (!isServed) yield;
      order.push('end');
      return 'result';
    }

    await expect(inSlices(untilServed())).resolves.toBe('result');
    expect(order).toEqual(['other work', 'end']);
  });

  it('lets the event loop have its turn between steps that together took long', async () => {
    const order: Array<number | string> = [];
    setImmediate(() => order.push('other work'));
    const breathing = new Breathing(() => performance.now());

    for (let n = 1; n <= 8; n += 1) {
      const until = performance.now() + 1;
      while (performance.now() < until);
      order.push(n);
      await breathing.between();
    }

    expect(order.filter((one) => one !== 'other work')).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(order.slice(0, -1)).toContain('other work');
  });
});
