import { describe, expect, it } from '@jest/globals';
import { FirstShare } from './bull-topic.js';

describe('queue/first-share', () => {
  it('lets an ordinary number go first, and no more of a flood', () => {
    const share = new FirstShare();

    expect(share.take('acme', 2_000, 0)).toBe(40);
    expect(share.take('acme', 1, 0)).toBe(0);
    expect(share.take('beta', 3, 0)).toBe(3);
  });

  it('gives ten more with each second, and saves no more than a burst', () => {
    const share = new FirstShare();
    share.take('acme', 40, 0);

    expect(share.take('acme', 100, 500)).toBe(5);
    expect(share.take('acme', 100, 1_500)).toBe(10);
    expect(share.take('acme', 100, 600_000)).toBe(40);
  });
});
