import { describe, expect, it } from '@jest/globals';
import { describeLanguage } from '../../../insight/trying/rule-language.js';
import { fieldsOf, keysAt, kindsAround, lookupAround, meaningOf, valuesAt, wordsOf } from './language.js';
import { placeAt } from './yaml-place.js';

const LANGUAGE = describeLanguage();

/** What the editor offers where `|` stands. */
function at(marked: string) {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  return { text, offset, place: placeAt(text, offset), used: lookupAround(text, offset) };
}

function offered(marked: string): string[] {
  const { place, used } = at(marked);
  const offers =
    place.key === null
      ? keysAt(LANGUAGE, place.path, used)
      : valuesAt(LANGUAGE, place.key === '' ? place.path : [...place.path, place.key], used);
  return offers.map(({ word }) => word);
}

const RULE = 'version: 1\norg: acme\nrules:\n  - id: one\n';

describe('console/islands/editor: what may be written at a place', () => {
  it.each<[string, string, string[], string[]]>([
    ['keys of the file', '|', ['org', 'rules', 'policies'], ['on', 'if']],
    ['keys of a rule', `${RULE}    |`, ['on', 'where', 'if', 'lookup', 'do'], ['org', 'version']],
    ['kinds of event', `${RULE}    on: |`, ['push', 'release.published'], ['label.ensure']],
    ['actions of a step', `${RULE}    do:\n      - |`, ['label.ensure'], ['push']],
    ['keys of a lookup', `${RULE}    lookup:\n      box:\n        |`, ['use', 'with'], ['repo', 'do']],
    ['lookups', `${RULE}    lookup:\n      box:\n        use: |`, ['package.get', 'feed.list'], ['label.ensure']],
    [
      'parameters of the lookup in use',
      `${RULE}    lookup:\n      box:\n        use: package.get\n        with:\n          |`,
      ['name', 'version'],
      ['limit', 'branch'],
    ],
    [
      'parameters in braces',
      `${RULE}    lookup:\n      box: { use: org_variable.get, with: { | } }`,
      ['name'],
      ['version', 'branch'],
    ],
    [
      'parameters of the second of two lookups',
      `${RULE}    lookup:\n      a: { use: package.get }\n      b:\n        use: org_variable.get\n        with:\n          |`,
      ['name'],
      ['version'],
    ],
  ])('offers %s', (_what, marked, those, notThese) => {
    const words = offered(marked);

    expect(words).toEqual(expect.arrayContaining(those));
    for (const word of notThese) expect(words).not.toContain(word);
  });

  it('offers no parameter where no lookup is named', () => {
    expect(offered(`${RULE}    lookup:\n      box:\n        with:\n          |`)).toEqual([]);
  });
});

describe('console/islands/editor: what a word means', () => {
  it('knows the events of the rule around a place, from a line or a list', () => {
    const two = `${RULE}    on: push\n    if: |\n  - id: two\n    on: [release.published, issue.opened]\n`;
    const { text, offset } = at(two);

    expect(kindsAround(LANGUAGE, text, offset)).toEqual(['push']);
    expect(kindsAround(LANGUAGE, text, text.length - 1)).toEqual(['release.published', 'issue.opened']);
  });

  it('knows fields by their dots, and nothing behind an unknown one', () => {
    expect(Object.keys(fieldsOf(LANGUAGE, ['release.published'], ['event', 'release']) ?? {})).toContain('tag_name');
    expect(fieldsOf(LANGUAGE, ['push'], ['event', 'nothing'])).toBeNull();
    expect(wordsOf(LANGUAGE, ['push'], ['event', 'nothing'])).toEqual([]);
    expect(wordsOf(LANGUAGE, ['push'], []).map(({ word }) => word)).toEqual(
      expect.arrayContaining(['event', 'repo', 'lookups']),
    );
  });

  it('explains keys, kinds and parameters, and leaves other words alone', () => {
    const { place, used } = at(`${RULE}    lookup:\n      box:\n        use: package.get\n        with:\n          |`);
    const meaning = (word: string): string | null => meaningOf(LANGUAGE, place, word, [word], [], used);
    const kind = meaningOf(LANGUAGE, { path: ['rules', '[]'], key: 'on' }, 'push', ['push'], [], null);

    expect(kind).toBe(LANGUAGE.kinds['push']?.summary);
    expect(meaning('zebra')).toBeNull();
    expect(meaningOf(LANGUAGE, { path: ['rules', '[]'], key: null }, 'if', ['if'], [], null)).toMatch(/\w/);
  });
});
