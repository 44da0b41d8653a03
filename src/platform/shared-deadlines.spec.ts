import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SharedDeadlines } from './shared-deadlines.js';

describe('platform/shared-deadlines', () => {
  let late: string[];
  let deadlines: SharedDeadlines<string>;

  beforeEach(() => {
    jest.useFakeTimers();
    late = [];
    deadlines = new SharedDeadlines(4_000, (item) => void late.push(item));
  });
  afterEach(() => void jest.useRealTimers());

  it('passes for each that is not done, at most a fortieth early', () => {
    deadlines.begin('a');
    jest.advanceTimersByTime(99);
    deadlines.begin('b');
    jest.advanceTimersByTime(1);
    deadlines.begin('c');
    jest.advanceTimersByTime(3_899);
    expect(late).toEqual([]);

    jest.advanceTimersByTime(1);
    expect(late).toEqual(['a', 'b']);
    jest.advanceTimersByTime(99);
    expect(late).toEqual(['a', 'b']);
    jest.advanceTimersByTime(1);
    expect(late).toEqual(['a', 'b', 'c']);
  });

  it('does not pass for what is done, and leaves no timer behind', () => {
    for (const item of ['a', 'b']) deadlines.begin(item);
    deadlines.done('a');
    deadlines.done('a');
    deadlines.begin('c');
    for (const item of ['b', 'c']) deadlines.done(item);
    jest.advanceTimersByTime(100);

    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(10_000);
    expect(late).toEqual([]);
  });
});
