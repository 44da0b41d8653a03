import { describe, expect, it } from '@jest/globals';
import { previousTag } from './release-notes.js';

/** Each a day after the one before. */
const inOrder = (...names: string[]) =>
  names.map((name, day) => ({ name, createdAt: `2026-03-${String(day + 1).padStart(2, '0')}T12:00:00Z` }));

describe('actions/support/previous-tag', () => {
  it.each<[string, string[], string | null]>([
    ['v1.5.0', ['v1.3.0', 'v1.4.0', 'v1.5.0'], 'v1.4.0'],
    ['v1.4.2', ['v1.4.0', 'v1.4.1', 'v1.5.0', 'v1.4.2'], 'v1.4.1'],
    ['v1.10.0', ['v1.2.0', 'v1.9.0', 'v1.10.0'], 'v1.9.0'],
    ['v1.5.0', ['v1.4.0', 'v1.5.0-rc.1', 'v1.5.0-rc.2', 'v1.5.0'], 'v1.4.0'],
    ['v1.5.0-rc.10', ['v1.4.0', 'v1.5.0-rc.2', 'v1.5.0-rc.9', 'v1.5.0-rc.10'], 'v1.5.0-rc.9'],
    ['v1.5.0-rc.1', ['v1.4.0', 'v1.5.0-beta'], 'v1.5.0-beta'],
    ['1.5', ['1.4', '1.5.0'], '1.4'],
    ['release-2.0', ['nightly', 'release-1.9'], 'release-1.9'],
    ['v1.5.0', ['v1.4.0'], 'v1.4.0'],
    ['v1.0.0', ['v1.0.0', 'v1.1.0', 'nightly'], null],
    ['spring', ['autumn', 'winter', 'spring', 'summer'], 'winter'],
    ['not-yet-made', ['autumn', 'winter'], 'winter'],
    ['first', ['first'], null],
  ])('before %s among %j comes %s', (tag, names, expected) => {
    expect(previousTag(tag, inOrder(...names))).toBe(expected);
  });

  it('leaves out tags without a time where time orders them', () => {
    expect(previousTag('spring', [{ name: 'winter', createdAt: null }])).toBeNull();
  });
});
