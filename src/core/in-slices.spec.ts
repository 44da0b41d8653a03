import { describe, expect, it } from '@jest/globals';
import { eachInSlices, inSlices } from './in-slices.js';

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

  it('takes a step for each item in order, with turns of the event loop between them', async () => {
    const order: Array<number | string> = [];
    setImmediate(() => order.push('other work'));

    await eachInSlices([1, 2, 3, 4, 5, 6, 7, 8], (n) => {
      const until = performance.now() + 1;
      while (performance.now() < until);
      order.push(n);
    });

    expect(order.filter((one) => one !== 'other work')).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(order.slice(0, -1)).toContain('other work');
  });

  it('begins a step when the one before has gone as far as it can', async () => {
    const order: string[] = [];
    const goesOn = async (name: string): Promise<void> => {
      for (const step of ['begins', 'goes on', 'ends']) {
        order.push(`${name} ${step}`);
        await Promise.resolve();
      }
    };

    await eachInSlices(['a', 'b'], (name) => void goesOn(name));

    expect(order).toEqual(['a begins', 'a goes on', 'a ends', 'b begins', 'b goes on', 'b ends']);
  });
});
