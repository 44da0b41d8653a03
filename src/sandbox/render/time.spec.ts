import { describe, expect, it } from '@jest/globals';
import { rfc3339 } from './time.js';

describe('sandbox/render/time', () => {
  it.each([
    [0, 'UTC', '1970-01-01T00:00:00Z'],
    [0, 'Europe/Berlin', '1970-01-01T01:00:00+01:00'],
    [1_782_900_000, 'Europe/Berlin', '2026-07-01T12:00:00+02:00'],
    [0, 'America/St_Johns', '1969-12-31T20:30:00-03:30'],
    [951_782_399, 'Asia/Kolkata', '2000-02-29T05:29:59+05:30'],
  ])('%i in %s => %s', (at, zone, expected) => {
    expect(rfc3339(at, zone)).toBe(expected);
  });
});
