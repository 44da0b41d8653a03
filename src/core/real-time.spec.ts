import { describe, expect, it } from '@jest/globals';
import { isRealDay, isRealTime } from './real-time.js';

describe('core/real-time', () => {
  it.each(['2027-01-31', '2028-02-29', '0001-01-01'])('%s is a day', (text) => {
    expect(isRealDay(text)).toBe(true);
  });

  it.each(['2027-02-29', '2027-02-30', '2027-04-31', '2027-13-01', '2027-00-10', '2027-01-00', '2027-1-1', ''])(
    '%s is none',
    (text) => {
      expect(isRealDay(text)).toBe(false);
      expect(isRealTime(`${text}T12:00:00Z`)).toBe(false);
    },
  );

  it.each(['2027-01-31T23:59:59Z', '2027-01-31T00:00:00.5+14:00', '2028-02-29T12:00:00-00:30'])(
    '%s is a time',
    (text) => {
      expect(isRealTime(text)).toBe(true);
    },
  );

  it.each([
    '2027-01-31T24:00:00Z',
    '2027-01-31T12:60:00Z',
    '2027-01-31T12:00:60Z',
    '2027-01-31T12:00:00+24:00',
    '2027-01-31T12:00:00+01:60',
    '2027-01-31T12:00:00',
    '2027-01-31T12:00Z',
    '2027-01-31 12:00:00Z',
  ])('%s is none', (text) => {
    expect(isRealTime(text)).toBe(false);
  });
});
