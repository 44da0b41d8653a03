import { describe, expect, it } from '@jest/globals';
import { inSlices } from './in-slices.js';

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
});
