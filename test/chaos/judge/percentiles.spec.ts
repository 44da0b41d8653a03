import { describe, expect, it } from '@jest/globals';
import { percentile, percentiles } from './percentiles.js';

const HUNDRED = Array.from({ length: 100 }, (_, index) => 100 - index);

describe('chaos/percentiles', () => {
  it('tells the value that a share of them does not exceed', () => {
    expect([percentile(HUNDRED, 0.95), percentile(HUNDRED, 0.5), percentile([7], 0.95)]).toEqual([95, 50, 7]);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it('tells the middle, the edge and the end of what was measured', () => {
    expect(percentiles(HUNDRED)).toEqual({ n: 100, p50: 51, p99: 100, max: 100 });
    expect(percentiles([1.4, 2.6])).toEqual({ n: 2, p50: 3, p99: 3, max: 3 });
    expect(percentiles([])).toEqual({ n: 0, p50: 0, p99: 0, max: 0 });
  });
});
