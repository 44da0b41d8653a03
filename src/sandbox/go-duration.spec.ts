import { describe, expect, it } from '@jest/globals';
import { formatGoDuration, parseGoDuration } from './go-duration.js';

describe('sandbox/go-duration', () => {
  it.each([
    ['8h', 28_800],
    ['8h0m0s', 28_800],
    ['10m', 600],
    ['1h30m', 5400],
    ['0', 0],
    ['0s', 0],
    ['1.5h', 5400],
    ['-1h', -3600],
    ['500ms', 0.5],
    ['', undefined],
    ['daily', undefined],
    ['10', undefined],
    ['1 h', undefined],
    ['h', undefined],
  ])('reads %j as %j seconds', (text, seconds) => {
    expect(parseGoDuration(text)).toBe(seconds);
  });

  it.each([
    [28_800, '8h0m0s'],
    [600, '10m0s'],
    [3600, '1h0m0s'],
    [0, '0s'],
    [61, '1m1s'],
  ])('writes %i seconds as %s', (seconds, text) => {
    expect(formatGoDuration(seconds)).toBe(text);
  });
});
