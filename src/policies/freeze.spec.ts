import { describe, expect, it } from '@jest/globals';
import type { FreezeConfig } from '../config/app-config.js';
import type { Freeze } from '../core/run-reasons.js';
import { frozenAt } from './freeze.js';

const holidays: FreezeConfig = {
  kind: 'once',
  fromWallMs: Date.UTC(2026, 11, 24),
  toWallMs: Date.UTC(2027, 0, 2),
  tz: 'Europe/Paris',
  reason: 'holidays',
};
const weekend: FreezeConfig = {
  kind: 'again',
  cron: '0 17 * * 5',
  forS: 62 * 3600,
  tz: 'Europe/Paris',
  reason: 'weekend',
};

describe('policies/freeze', () => {
  it.each<[string, FreezeConfig[], string, Freeze | null]>([
    ['before it', [holidays], '2026-12-23T22:59:59Z', null],
    [
      'at its first instant, on the clock of its zone',
      [holidays],
      '2026-12-23T23:00:00Z',
      { until: '2027-01-01T23:00Z', reason: 'holidays' },
    ],
    ['at its end', [holidays], '2027-01-01T23:00:00Z', null],
    ['a time that comes again, before', [weekend], '2026-11-20T15:59:59Z', null],
    ['in it', [weekend], '2026-11-20T16:00:00Z', { until: '2026-11-23T06:00Z', reason: 'weekend' }],
    ['at its last second', [weekend], '2026-11-23T05:59:59Z', { until: '2026-11-23T06:00Z', reason: 'weekend' }],
    ['after it', [weekend], '2026-11-23T06:00:00Z', null],
    [
      'two at once: the one that ends last is told',
      [weekend, holidays],
      '2026-12-26T12:00:00Z',
      { until: '2027-01-01T23:00Z', reason: 'holidays' },
    ],
    ['no windows', [], '2026-12-26T12:00:00Z', null],
  ])('%s', (_when, windows, at, expected) => {
    expect(frozenAt(windows, new Date(at))).toEqual(expected);
  });
});
