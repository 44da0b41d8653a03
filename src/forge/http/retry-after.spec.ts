import { describe, expect, it } from '@jest/globals';
import { readRetryAfterS } from './reply.js';

const NOW = new Date('2026-11-20T12:00:00Z');

describe('forge/http/retry-after', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['0', 0],
    [' 17 ', 17],
    ['900', 900],
    ['901', 900],
    ['99999999999999999999', 900],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30],
    ['Friday, 20-Nov-26 12:01:00 GMT', 60],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['Fri, 20 Nov 2099 11:00:00 GMT', 900],
    ['Fri, 99 Nov 2099', undefined],
  ])('%p => %p', (header, seconds) => {
    expect(readRetryAfterS(header, NOW)).toBe(seconds);
  });
});
