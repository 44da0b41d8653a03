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

  it.each([
    ['30 2 * * *', '2027-12-31T02:30 2028-01-01T02:30 2028-01-02T02:30 2028-01-03T02:30 2028-01-04T02:30'],
    ['*/20 1,2,3 * * *', '2027-12-31T01:00 2027-12-31T01:20 2027-12-31T01:40 2027-12-31T02:00 2027-12-31T02:20'],
    ['5-50/15 */7 * * *', '2027-12-31T00:05 2027-12-31T00:20 2027-12-31T00:35 2027-12-31T00:50 2027-12-31T07:05'],
    ['0 0 31 * *', '2027-12-31T00:00 2028-01-31T00:00 2028-03-31T00:00 2028-05-31T00:00 2028-07-31T00:00'],
    ['0 6 * * MON,wed', '2028-01-03T06:00 2028-01-05T06:00 2028-01-10T06:00 2028-01-12T06:00 2028-01-17T06:00'],
    ['0 6 * * 5-7', '2027-12-31T06:00 2028-01-01T06:00 2028-01-02T06:00 2028-01-07T06:00 2028-01-08T06:00'],
    ['0 6 * JAN-mar 0', '2028-01-02T06:00 2028-01-09T06:00 2028-01-16T06:00 2028-01-23T06:00 2028-01-30T06:00'],
    ['15 3 13 * FRI', '2027-12-31T03:15 2028-01-07T03:15 2028-01-13T03:15 2028-01-14T03:15 2028-01-21T03:15'],
    ['0 0 1-7 */3 2', '2028-01-01T00:00 2028-01-02T00:00 2028-01-03T00:00 2028-01-04T00:00 2028-01-05T00:00'],
    ['0 12 29 2 *', '2028-02-29T12:00 2032-02-29T12:00 2036-02-29T12:00 2040-02-29T12:00 2044-02-29T12:00'],
    ['0,0,1 0 * * 0,7', '2028-01-02T00:00 2028-01-02T00:01 2028-01-09T00:00 2028-01-09T00:01 2028-01-16T00:00'],
    ['0 4 */10 * */3', '2027-12-31T04:00 2028-01-01T04:00 2028-01-02T04:00 2028-01-05T04:00 2028-01-08T04:00'],
  ])('reads "%s"', (cron, times) => {
    const from = '2027-12-30T22:58:30Z';
    const found: string[] = [];
    for (let at = new Date(from); found.length < 5;) {
      const next = nextOccurrence({ cron, tz: 'UTC', jitterS: 0 }, 'acme/x', at);
      found.push(next?.at.toISOString().slice(0, 16) ?? 'never');
      at = next?.at ?? at;
    }
    expect(found.join(' ')).toBe(times);
  });

  it('holds the first of March behind a February without the last of the days', () => {
    expect(utc('0 4 */10 * *', 'UTC', '2028-02-02T00:00:00Z', '2028-03-12T00:00:00Z')).toEqual([
      '2028-02-11T04:00',
      '2028-02-21T04:00',
      '2028-03-01T04:00',
      '2028-03-11T04:00',
    ]);
  });

  it('has none for a day that never comes', () => {
    expect(nextOccurrence({ cron: '0 0 30 2 *', tz: 'UTC', jitterS: 0 }, 'acme/x', new Date())).toBeNull();
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
