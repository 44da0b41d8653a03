import { describe, expect, it } from '@jest/globals';
import { previousTag, notesIn, renderNotes, withNotes } from './release-notes.js';

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
    ['web-1.2.0', ['web-1.1.0', 'api-1.1.9'], 'web-1.1.0'],
    ['web/v1.2.0', ['web/v1.1.0', 'api/v1.1.9', 'v1.1.8'], 'web/v1.1.0'],
    ['web/v1.2.0', ['web/1.1.0', 'api/1.1.9'], 'web/1.1.0'],
    ['app@1.2.0', ['app@1.1.0', 'application@1.1.9', 'ap@1.1.8'], 'app@1.1.0'],
    ['@acme/app@1.2.0', ['@acme/app@1.1.0', '@acme/web@1.1.9'], '@acme/app@1.1.0'],
    ['web-1.2.0-rc.2', ['web-1.2.0-rc.1', 'api-1.2.0-rc.9', 'web-1.1.0'], 'web-1.2.0-rc.1'],
    ['web-1.0.0', ['api-0.9.0', 'v0.8.0'], null],
    ['v1.2.0', ['v1.1.0', 'web-v1.1.9'], 'v1.1.0'],
    ['v2.0', ['release-1.9', 'web-1.9.5'], 'release-1.9'],
    ['lib2-1.2.0', ['lib2-1.1.0', 'lib3-1.1.9'], 'lib2-1.1.0'],
    ['2026.11', ['2026.10', 'web-2026.10.5'], '2026.10'],
    ['web-5', ['web-4', 'api-9'], 'web-4'],
    ['nightly-20260303', ['nightly-20260301', 'docs-20260302'], 'nightly-20260301'],
  ])('before %s among %j comes %s', (tag, names, expected) => {
    expect(previousTag(tag, inOrder(...names))).toBe(expected);
  });

  it('leaves out tags without a time where time orders them', () => {
    expect(previousTag('spring', [{ name: 'winter', createdAt: null }])).toBeNull();
  });
});

const STYLE = {
  groups: [
    { title: 'Features', labels: ['kind/feature'] },
    { title: 'Fixes', labels: ['kind/bug', 'bug'] },
  ],
  other: 'Other changes',
  skip: ['no-notes'],
  since: 'v1.3.0',
};
const change = (number: number, title: string, ...labels: string[]) => ({ number, title, author: 'ann', labels });

describe('actions/support/release-notes', () => {
  it('groups by the first label that fits, by number, and leaves out what is to be left out', () => {
    const notes = renderNotes(
      [
        change(9, 'Faster', 'Kind/Feature', 'bug'),
        change(4, 'Crash', 'bug'),
        change(3, 'Leak', 'kind/bug'),
        change(5, 'Words'),
        change(6, 'CI', 'no-notes'),
      ],
      STYLE,
    );

    expect(notes.split('\n').filter((line) => line !== '')).toEqual([
      '<!-- forgehand:notes -->',
      '## Changes since v1.3.0',
      '### Features',
      '- Faster (#9, ann)',
      '### Fixes',
      '- Leak (#3, ann)',
      '- Crash (#4, ann)',
      '### Other changes',
      '- Words (#5, ann)',
      '<!-- /forgehand:notes -->',
    ]);
    expect(renderNotes([change(5, 'Words')], { ...STYLE, other: '', since: null })).toContain('## Changes\n\nNone.');
  });

  it.each([
    'fixes #3 @all <img src=x> ![x](http://y)',
    '--> <!-- /forgehand:notes -->',
    '# heading\n- [ ] box',
    '`code` [link](https://x.test)',
  ])('shows the title %j as it is, and lets it do nothing', (title) => {
    const notes = renderNotes([change(1, title)], STYLE);

    expect(notes).not.toMatch(/@all|fixes #3|<img|\]\(|-->\s<|^# heading/m);
    expect(notesIn(notes)).toBe(notes);
  });

  it('changes nothing outside of its markers', () => {
    const old = renderNotes([change(1, 'Old')], STYLE);
    const notes = renderNotes([change(1, 'Old'), change(2, 'New $& $1')], STYLE);

    expect(withNotes(`Hello.\r\n\r\n${old}\n\nBye.`, notes)).toBe(`Hello.\n\n${notes}\n\nBye.`);
    expect([withNotes('', notes), withNotes(null, notes), withNotes('Hello.\n', notes)]).toEqual([
      notes,
      notes,
      `Hello.\n\n${notes}`,
    ]);
  });

  it.each<[string, string]>([
    ['without an end', '<!-- forgehand:notes -->'],
    ['without a begin', 'x <!-- /forgehand:notes -->'],
    ['twice', '<!-- forgehand:notes --> <!-- forgehand:notes --> <!-- /forgehand:notes -->'],
    ['the wrong way round', '<!-- /forgehand:notes --> <!-- forgehand:notes -->'],
  ])('knows markers that do not belong together: %s', (_, body) => {
    expect(notesIn(body)).toBe('broken');
  });
});
