import { describe, expect, it } from '@jest/globals';
import { nextOccurrence, occurrences } from './occurrences.js';

function utc(cron: string, tz: string, from: string, to: string, jitterS = 0): string[] {
  return occurrences({ cron, tz, jitterS }, 'acme/x', { from: new Date(from), to: new Date(to) }).map(({ at }) =>
    at.toISOString().slice(0, 16),
  );
}

describe('core/occurrences', () => {
  it('begins after the first end and holds the last one', () => {
    expect(utc('0 6 * * *', 'UTC', '2026-11-20T06:00:00Z', '2026-11-22T06:00:00Z')).toEqual([
      '2026-11-21T06:00',
      '2026-11-22T06:00',
    ]);
    expect(utc('0 6 * * *', 'UTC', '2026-11-20T06:00:00Z', '2026-11-21T05:59:59Z')).toEqual([]);
  });

  it('reads the pattern on the clock of its zone', () => {
    expect(utc('0 6 * * 1', 'Europe/Paris', '2026-03-20T00:00:00Z', '2026-04-07T00:00:00Z')).toEqual([
      '2026-03-23T05:00',
      '2026-03-30T04:00',
      '2026-04-06T04:00',
    ]);
  });

  it.each<[string, string, string, string, string, string[]]>([
    [
      'a skipped time is the first valid instant',
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00:00Z',
      '2026-03-09T12:00:00Z',
      ['2026-03-08T07:00', '2026-03-09T06:30'],
    ],
    [
      'several skipped times are one',
      '*/30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00:00Z',
      '2026-03-08T23:00:00Z',
      ['2026-03-08T07:00'],
    ],
    [
      'a time that comes twice is the first one',
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00:00Z',
      '2026-11-02T12:00:00Z',
      ['2026-11-01T05:30', '2026-11-02T06:30'],
    ],
    [
      'also when asked in between the two',
      '30 1 * * *',
      'America/New_York',
      '2026-11-01T05:30:00Z',
      '2026-11-02T12:00:00Z',
      ['2026-11-02T06:30'],
    ],
    [
      'half an hour is skipped',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-02T16:00:00Z',
      '2026-10-04T16:00:00Z',
      ['2026-10-03T15:30', '2026-10-04T15:15'],
    ],
    [
      'a whole day is skipped',
      '0 12 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00:00Z',
      '2012-01-01T00:00:00Z',
      ['2011-12-29T22:00', '2011-12-30T10:00', '2011-12-30T22:00', '2011-12-31T22:00'],
    ],
    [
      'midnight is skipped',
      '0 0 * * *',
      'Africa/Cairo',
      '2026-04-22T23:00:00Z',
      '2026-04-24T23:00:00Z',
      ['2026-04-23T22:00', '2026-04-24T21:00'],
    ],
  ])('%s', (_, cron, tz, from, to, expected) => {
    expect(utc(cron, tz, from, to)).toEqual(expected);
  });

  it('gives one occurrence a day over a year in ten zones', () => {
    const zones = Intl.supportedValuesOf('timeZone')
      .filter((_, index) => index % 42 === 0)
      .slice(0, 10);

    for (const tz of zones) {
      const days = utcCount('17 2 * * *', tz, '2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z');
      expect({ tz, days }).toEqual({ tz, days: 365 });
    }
  });

  it('gives the newest when more were missed than are wanted', () => {
    const spec = { cron: '0 * * * *', tz: 'UTC', jitterS: 0 };

    const found = occurrences(spec, 'x', {
      from: new Date('2026-11-20T00:00:00Z'),
      to: new Date('2026-11-20T06:30:00Z'),
      limit: 1,
    });

    expect(found.map(({ at }) => at.toISOString())).toEqual(['2026-11-20T06:00:00.000Z']);
  });

  it('delays by a jitter that depends on the key alone, and keeps the occurrence', () => {
    const spec = { cron: '0 6 * * *', tz: 'UTC', jitterS: 1_200 };
    const one = nextOccurrence(spec, 'acme/one', new Date('2026-11-20T00:00:00Z'));
    const again = nextOccurrence(spec, 'acme/one', new Date('2026-11-20T00:00:00Z'));
    const two = nextOccurrence(spec, 'acme/two', new Date('2026-11-20T00:00:00Z'));

    expect(one).toEqual(again);
    expect(one?.at).toEqual(two?.at);
    expect(one?.fireAt).not.toEqual(two?.fireAt);
    const delayMs = (one?.fireAt.getTime() ?? 0) - (one?.at.getTime() ?? 0);
    expect(delayMs).toBeGreaterThanOrEqual(0);
    expect(delayMs).toBeLessThanOrEqual(1_200_000);
    const early = new Date((one?.fireAt.getTime() ?? 0) - 1);
    expect(occurrences(spec, 'acme/one', { from: new Date('2026-11-20T00:00:00Z'), to: early })).toEqual([]);
  });

  it('has no next one for a day that never comes', () => {
    expect(
      nextOccurrence({ cron: '0 0 30 2 *', tz: 'UTC', jitterS: 0 }, 'x', new Date('2026-11-20T00:00:00Z')),
    ).toBeNull();
  });
});

function utcCount(cron: string, tz: string, from: string, to: string): number {
  return occurrences({ cron, tz, jitterS: 0 }, 'x', { from: new Date(from), to: new Date(to), limit: 10_000 }).length;
}
