import { describe, expect, it } from '@jest/globals';
import { ExpressionError } from '../expression-engine.js';
import type { ExprValue } from '../expression-engine.js';
import { CelEngine } from './cel-engine.js';

const VARIABLES = ['event', 'repo', 'now', 'vars', 'lookups'];
const engine = new CelEngine();

const DATA = {
  event: {
    tag: 'v1.4.0',
    number: 12,
    id: '9007199254740993',
    big: 9007199254740993n,
    ratio: 1.5,
    draft: false,
    note: null,
    published_at: '2026-07-01T02:00:00+02:00',
    due_on: '0001-01-01T00:00:00Z',
    created: '2026-07-01T00:00:00Z',
    title: '2026-07-01T00:00:00Z',
    closed_at: 'soon',
    labels: [{ name: 'kind/bug' }, { name: 'size/s', color: 'ffffff' }],
    files: { added: ['repos/a.yml', 'README.md'] },
    $typeName: 'google.protobuf.Any',
    odd: { message: { $typeName: 'google.protobuf.Timestamp', seconds: 1 } },
  },
  repo: { name: 'web', private: false },
  now: new Date('2026-07-30T12:00:00Z'),
  vars: { base: 'https://mirror.example.org' },
  lookups: { none: null },
};

function evaluate(source: string, data: Record<string, unknown> = DATA): ExprValue {
  return engine.compile(source, VARIABLES).evaluate(data);
}

function failure(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ExpressionError)
      return `${error.offset}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`;
    throw error;
  }
  return 'no failure';
}

describe('rules/language/expressions/cel-engine', () => {
  it.each<[string, ExprValue]>([
    ['event.number + 1', 13n],
    ['event.number % 2 == 0', true],
    ['event.ratio * 2.0', 3],
    ['event.big', 9007199254740993n],
    ['string(event.big)', '9007199254740993'],
    ['event.id', '9007199254740993'],
    ['event.note == null', true],
    ['has(event.note)', false],
    ['has(event.tag) && !has(event.nothing)', true],
    ['event.published_at', new Date('2026-07-01T00:00:00Z')],
    ['event.due_on == null', true],
    ['event.title', '2026-07-01T00:00:00Z'],
    ['event.closed_at', 'soon'],
    ['now - event.created > duration("29d")'.replace('29d', '696h'), true],
    ['now - event.created', { seconds: 2_548_800n, nanos: 0 }],
    ['event.labels.map(l, l.name)', ['kind/bug', 'size/s']],
    ['event.labels.filter(l, has(l.color))[0].name', 'size/s'],
    ['event.labels.exists(l, l.name.startsWith("kind/"))', true],
    ['event.labels.exists_one(l, has(l.color))', true],
    ['"bug" in event.labels.map(l, l.name.split("/")[1])', true],
    ['event.tag.matches("^v[0-9]+[.][0-9]+[.]0$")', true],
    ['repo.name.upperAscii().replace("E", "_")', 'W_B'],
    ['["a", "b"].join("-") + event.tag.substring(1)', 'a-b1.4.0'],
    ['"%s has %d".format([repo.name, event.number])', 'web has 12'],
    ['{"a": [1, {"b": now}]}', { a: [1n, { b: DATA.now }] }],
    ['"a".replace("", "-")', '-a-'],
    ['"aaa".replace("a", "b", 2)', 'bba'],
    ['"a,b,c".split(",", 2)', ['a', 'b']],
    ['type(event.number) == int', true],
    ['repo.private ? "private" : "public"', 'public'],
    ['event.odd.message.seconds', 1n],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it.each([
    ['event.tga', '6: event has no field "tga" (did you mean "tag"?)'],
    [
      'event.tag == "x" || event.nothing.more',
      '26: event has no field "nothing" (where it may be absent, ask first: has(event.nothing))',
    ],
    ['event.note.text', '11: event.note is null and has no field "text" (ask first: event.note != null)'],
    ['lookups.none.name', '13: lookups.none is null and has no field "name" (ask first: lookups.none != null)'],
    ['has(event.absent.x)', '10: event has no field "absent" (where it may be absent, ask first: has(event.absent))'],
    ['event.labels.map(l, l.color)', '22: l has no field "color" (where it may be absent, ask first: has(l.color))'],
    ['event.labels[7].name', '0: index 7 out of bounds [0, -1)'],
    ['event.number + 1.0', '13: + does not take (int, double)'],
    ['event.number > "1"', '13: > does not take (int, string)'],
    ['repo.name ? 1 : 2', '0: the condition before ? is no bool but (string)'],
    ['minor(repo.name)', '0: "web" is no version like v1.4.0'],
    ['timestamp("soon")', '0: "soon" is no time that exists: write one such as 2027-01-31T12:00:00Z'],
    ['now', 'no failure'],
  ])('an expression that cannot be evaluated says where and why: %s', (source, expected) => {
    expect(failure(() => evaluate(source))).toBe(expected);
  });

  it.each([
    ['evnt.tag', '0: there is no variable "evnt" here (did you mean "event"?)'],
    ['constructor', '0: there is no variable "constructor" here (there are: event, repo, now, vars, lookups)'],
    ['__proto__.x', '0: there is no variable "__proto__" here (there are: event, repo, now, vars, lookups)'],
    ['minr(event.tag)', '0: there is no function "minr" (did you mean "minor"?)'],
    ['event.tag.startWith("v")', '9: there is no function "startWith" (did you mean "startsWith"?)'],
    ['minor()', '0: "minor" is called differently (it is: minor(string))'],
    ['event.tag.minor()', '9: "minor" is called differently (it is: minor(string))'],
    ['event.tag = "x"', '10: unexpected "=" (to compare, write ==)'],
    ['event.tag == "x" and true', '17: unexpected "and" (write && for "and")'],
    ['not event.draft', '4: unexpected "event" (write ! for "not")'],
    ['event.tag == "x', '13: this text is never closed (it begins with " and must end with it)'],
    ['(event.tag == "x"', '0: this ( is never closed'],
    ['event.tag == "x")', '16: this ) closes nothing'],
    ['event.tag ==', '10: the expression ends too early'],
    ['', '0: the expression is empty'],
    ['google.protobuf.Timestamp{seconds: 1}', '0: there is no type "google.protobuf.Timestamp" to build'],
    [
      'event.labels.all(a, event.labels.all(b, event.labels.all(c, true)))',
      '52: loops (all, exists, map, filter) may stand 2 deep, this is one deeper',
    ],
  ])('an expression that can never work is refused: %s', (source, expected) => {
    expect(failure(() => engine.compile(source, VARIABLES))).toBe(expected);
  });

  it.each([
    ['event.draft == false', 'bool'],
    ['!event.draft', 'bool'],
    ['event.a && event.b', 'bool'],
    ['has(event.tag)', 'bool'],
    ['event.labels.all(l, true)', 'bool'],
    ['event.labels.exists_one(l, true)', 'bool'],
    ['glob(event.tag, "v*")', 'bool'],
    ['event.tag in ["a"]', 'bool'],
    ['event.tag', 'dyn'],
    ['event.labels.map(l, l.name)', 'list'],
    ['event.labels.size()', 'int'],
    ['minor(event.tag)', 'string'],
    ['event.a + "x"', 'string'],
    ['now + duration("1h")', 'timestamp'],
    ['event.a ? 1 : 2', 'int'],
    ['event.a ? 1 : "x"', 'dyn'],
    ['{}', 'map'],
    ['null', 'null'],
  ])('%s is known to be %s', (source, type) => {
    expect(engine.compile(source, VARIABLES).type).toBe(type);
  });

  it('tells the longest paths it reads, loops included, with their places', () => {
    const { paths } = engine.compile(
      'event.release.tag_name.matches("x") && event.labels.exists(l, l.name == vars["base"]) && lookups[repo.name].x != null',
      VARIABLES,
    );

    expect(
      paths.map(({ segments, offset, complete }) => `${segments.join('.')}@${offset}${complete ? '' : ' …'}`),
    ).toEqual(['event.release.tag_name@0', 'event.labels@39', 'vars.base@72', 'repo.name@97', 'lookups@89 …']);
  });

  it('compiles an expression that is in use once, for the same variables', () => {
    const [first, again] = [
      engine.compile('event.number + 1', VARIABLES),
      engine.compile('event.number + 1', VARIABLES),
    ];

    expect(again).toBe(first);
    expect(engine.compile('event.number + 2', VARIABLES)).not.toBe(first);
    expect(engine.compile('event.number + 1', ['event'])).not.toBe(first);
    expect(() => engine.compile('event.number + 1', ['repo'])).toThrow(ExpressionError);
  });

  it('gives the same where so many others were used since that its program is made again', () => {
    const rare = ['event.number + 1', 'event.files.added[7]', 'event.labels.all(one, one.name != "")'].map((source) =>
      engine.compile(source, VARIABLES),
    );
    const look = (): unknown[] =>
      rare.flatMap((one) => {
        // One step is not enough for a loop: a meter is in each program.
        const told = [undefined, { remaining: 1 }].map((budget) => failure(() => one.evaluate(DATA, budget)));
        return [...told, one.whenNull('event')];
      });
    const before = look();

    const others = Array.from({ length: 40 }, (_, n) => `'${String(n).padEnd(4000, 'x')}'`);
    for (const other of others) expect(engine.compile(other, VARIABLES).evaluate(DATA)).toHaveLength(4000);

    expect(look()).toEqual(before);
    expect(before[3]).toContain('out of bounds');
    expect([before[6], before[7]]).toEqual(['no failure', expect.stringContaining('steps')]);
  });

  it('takes data that was converted before, and no JSON that looks like it', () => {
    const bound = engine.bind(DATA.event);

    expect(evaluate('event.tag', { ...DATA, event: bound })).toBe('v1.4.0');
    expect(evaluate('event.odd.message.seconds', { ...DATA, event: bound })).toBe(1n);
  });

  it('knows the time of the decision and no other', () => {
    const times = ['2026-07-30T00:00:00Z', '2027-01-01T00:00:00Z'].map((now) =>
      evaluate('age(event.created) > duration("800h")', { ...DATA, now: new Date(now) }),
    );

    expect(times).toEqual([false, true]);
    expect(evaluate('age(event.created)', { ...DATA, now: engine.bind(DATA.now) })).toEqual({
      seconds: 2_548_800n,
      nanos: 0,
    });
  });
});
