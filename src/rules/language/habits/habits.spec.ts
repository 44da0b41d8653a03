import { describe, expect, it } from '@jest/globals';
import { isEventKind } from '../../../core/event-kinds.js';
import { actionCatalogue } from '../../../actions/index.js';
import { lookupCatalogue } from '../../../actions/lookups/index.js';
import { MAPS } from '../grammar.js';
import { isWordOf } from '../load/read-map.js';
import type { MapName } from '../shapes.js';
import { HABITS, habitOf } from './habits.js';
import { otherToolOf } from './other-tools.js';
import { TEXT_HABITS, textHabitAt, textHabitOf } from './text-habits.js';

describe('rules/language/habits', () => {
  it.each(TEXT_HABITS.map(({ example }) => [example]))('%s is known', (example) => {
    expect(textHabitOf(example)).not.toBeNull();
  });

  it.each(TEXT_HABITS.map(({ example, pattern }) => [example, pattern] as const))(
    '%s is what its own pattern finds',
    (example, pattern) => {
      expect(pattern.test(example)).toBe(true);
    },
  );

  it('no word stands twice in one place', () => {
    const ofKeys = Object.values(MAPS).map(({ keys, elsewhere = [] }) => [
      ...Object.values(keys).flatMap(({ instead = [] }) => instead),
      ...elsewhere,
    ]);
    for (const words of [...Object.values(HABITS), ...ofKeys]) {
      const all = words.flatMap((one) => one.words);
      expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
    }
  });

  it('no key of a map is taken for a word from elsewhere', () => {
    const taken = (Object.keys(MAPS) as MapName[]).flatMap((name) =>
      Object.keys(MAPS[name].keys).flatMap((key) => (isWordOf(name, key) ? `${name}.${key}` : [])),
    );

    // A loop elsewhere, which it still is in a step of a rule.
    expect(taken).toEqual(['fix.for']);
  });

  it('no word of the language itself is taken for one from elsewhere', () => {
    const own = [...actionCatalogue().keys(), ...lookupCatalogue().keys()];

    expect(HABITS.kind.flatMap(({ words }) => words).filter((name) => name !== 'push' && isEventKind(name))).toEqual(
      [],
    );
    expect(
      [...HABITS.action, ...HABITS['lookup name']]
        .flatMap(({ words }) => words)
        .filter(
          (name) =>
            HABITS.action.some(({ words }) => words.includes(name)) &&
            own.includes(name) &&
            actionCatalogue().has(name),
        ),
    ).toEqual([]);
  });

  it('a name of every object of JavaScript is no habit', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect([isWordOf('rule', name), habitOf('kind', name), habitOf('variable', name)]).toEqual([false, null, null]);
  });

  it.each([
    ['contains(github.event.pull_request.title, "x")', 'event.pull_request.title.contains("x")'],
    ['"bug" in event.issue.labels', 'event.issue.labels.exists(x, x.name == "bug")'],
    ['"fix" in event.pull_request.title', 'event.pull_request.title.contains("fix")'],
    ['event.pull_request.labels.contains("bug")', 'event.pull_request.labels.exists(x, x.name == "bug")'],
    ['event.labels.contains("bug")', '"bug" in event.labels'],
    ['github.actor == "ann"', 'event.actor.login'],
    [
      'event.issue.milestone?.title == "x"',
      'has(event.issue.milestone) && event.issue.milestone != null && event.issue.milestone.title …',
    ],
    ['event.tag ?? "none"', 'has(event.tag) ? event.tag : "none"'],
  ])('%s => %s', (source, write) => {
    expect(textHabitOf(source)).toBe(write);
  });

  it('a habit far from the mistake is not told at it', () => {
    expect(textHabitAt('event.a.length > 3 && event.brnch == "x"', 23)).toBeNull();
    expect(textHabitAt('event.a.length > 3 && event.brnch == "x"', 8)).toBe('.size()');
  });

  it('files of other tools are known by their keys, rule files are none of them', () => {
    expect(otherToolOf(['name', 'on', 'jobs'])).toContain('Actions');
    expect(otherToolOf(['pull_request_rules'])).toContain('Mergify');
    expect(otherToolOf(['version', 'org', 'rules', 'steps'])).toBeNull();
    expect(otherToolOf(['version', 'org'])).toBeNull();
  });
});
