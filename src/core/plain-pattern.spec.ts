import { describe, expect, it } from '@jest/globals';
import { richPattern } from './occurrences.js';
import { PlainPattern } from './plain-pattern.js';

const FROM = Date.UTC(2027, 11, 30, 22, 58, 30);

function take(pattern: { next(wallMs: number): number | null }, count: number): string[] {
  const found: string[] = [];
  for (let at = pattern.next(FROM); at !== null && found.length < count; at = pattern.next(at))
    found.push(new Date(at).toISOString());
  return found;
}

describe('core/plain-pattern', () => {
  it.each([
    '30 2 * * *',
    '*/20 1,2,3 * * *',
    '* * * * *',
    '5-50/15 */7 * * *',
    '0 0 1 * *',
    '0 0 31 * *',
    '0 6 * * 1-5',
    '0 6 * * MON,wed',
    '0 6 * * 7',
    '0 6 * * 5-7',
    '0 6 * JAN-mar 0',
    '15 3 13 * FRI',
    '0 0 1-7 */3 2',
    '0 12 29 2 *',
    '59 23 31 12 *',
    '0,0,1 0 * * 0,7',
    '0 4 * * */2',
    '0 4 */10 * */3',
  ])('reads "%s" as the library does', (cron) => {
    const pattern = PlainPattern.of(cron);

    expect(pattern).not.toBeNull();
    expect(take(pattern ?? richPattern(cron), 60)).toEqual(take(richPattern(cron), 60));
  });

  it.each([
    '@daily',
    '0 0 L * *',
    '0 0 * * 5#2',
    '0 0 15W * *',
    '0 0 * * 5L',
    '0 0 ? * *',
    '5/15 * * * *',
    '60 * * * *',
    '0 0 * * FOO',
    '5-1 * * * *',
    '*/0 * * * *',
    '0 0 0 * *',
    '0 * * * * *',
  ])('leaves "%s" to the library', (cron) => expect(PlainPattern.of(cron)).toBeNull());

  it('holds the first of March, which the library passes over behind a February without the last of the days', () => {
    expect(take(PlainPattern.of('0 4 */10 * *') ?? richPattern(''), 10).map((at) => at.slice(5, 10))).toEqual([
      '12-31',
      '01-01',
      '01-11',
      '01-21',
      '01-31',
      '02-01',
      '02-11',
      '02-21',
      '03-01',
      '03-11',
    ]);
  });

  it('has none for a day that never comes', () => {
    expect(PlainPattern.of('0 0 30 2 *')?.next(FROM)).toBeNull();
  });
});
