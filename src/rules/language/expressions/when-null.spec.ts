import { describe, expect, it } from '@jest/globals';
import { CelEngine } from './cel-engine.js';

const engine = new CelEngine();
const VARIABLES = ['event', 'lookups', 'repo', 'now'];
const DATA = {
  event: null,
  lookups: { list: [{ name: 'a' }], head: null },
  repo: { name: 'app' },
  now: new Date('2026-07-30T12:00:00Z'),
};

/** Evaluated with what there is on a tick: a value, or `fails`. */
function evaluated(source: string): unknown {
  try {
    return engine.compile(source, VARIABLES).evaluate(DATA);
  } catch {
    return 'fails';
  }
}

describe('an expression while event is null', () => {
  it.each([
    ['event.branch == "main"', 0],
    ['repo.name == event.branch', 13],
    ['event["branch"] == "main"', 0],
    ['has(event.pull_request.title)', 4],
    ['event != null || event.branch == "main"', 17],
    ['event == null && event.branch == "main"', 17],
    ['!(event.branch == "main")', 2],
    ['event == null ? event.branch : "x"', 16],
    ['repo.name == "app" ? event.branch : "x"', 21],
    ['lookups.list.exists(l, l.name == event.branch)', 33],
    ['event.labels.exists(l, l == "a")', 0],
    ['[repo.name, event.branch]', 12],
    ['{"a": event.branch}', 6],
    ['glob(event.branch, "release/*")', 5],
    ['string(event.number)', 7],
  ])('%s fails', (source, offset) => {
    expect(engine.compile(source, VARIABLES).whenNull('event')).toEqual({ fails: offset, gives: null });
    expect(evaluated(source)).toBe('fails');
  });

  it.each([
    ['event != null', false],
    ['null == event', true],
    ['has(event.branch)', false],
    ['!has(event.branch)', true],
    ['event != null && event.branch == "main"', false],
    ['event.branch == "main" && event != null', false],
    ['event == null || event.branch == "main"', true],
    ['event.branch == "main" || event == null', true],
    ['!(event != null && event.draft)', true],
    ['has(event.branch) && event.branch == "main" && repo.name != ""', false],
    ['event == null ? true : event.draft', true],
    ['event != null ? event.draft : !true', false],
  ])('%s is %s', (source, gives) => {
    expect(engine.compile(source, VARIABLES).whenNull('event')).toEqual({ fails: null, gives });
    expect(evaluated(source)).toBe(gives);
  });

  it.each([
    ['repo.name == "app"'],
    ['event == null ? "x" : event.branch'],
    ['(event == null || event.draft) && repo.name == "app"'],
    ['lookups.list.exists(l, event == null || l.name == event.branch)'],
    ['lookups.list.map(event, event.name)'],
    ['lookups.head == null'],
    ['[event].size() == 1'],
  ])('%s is told by the rest', (source) => {
    expect(engine.compile(source, VARIABLES).whenNull('event')).toEqual({ fails: null, gives: null });
    expect(evaluated(source)).not.toBe('fails');
  });

  it('an error of anything else is not its matter', () => {
    expect(engine.compile('lookups.head.protected', VARIABLES).whenNull('event')).toEqual({ fails: null, gives: null });
  });
});
