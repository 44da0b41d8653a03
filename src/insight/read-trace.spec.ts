import { describe, expect, it } from '@jest/globals';
import type { Json } from '../core/json.js';
import { readPlace, readTrace } from './read-trace.js';
import { shortAnswer } from './short-json.js';

describe('insight/read-trace', () => {
  it.each<[string, Json]>([
    ['nothing', null],
    ['a text', 'x'],
    ['a list', [1, 2]],
    ['a map of something else', { labels: { wanted: 2 } }],
    ['conditions that are none', { conditions: [null, 3, 'x'], steps: 'x' }],
  ])('reads out of %s what is there: nothing', (_what, trace) => {
    expect(readTrace(trace)).toEqual({ place: null, conditions: [], steps: [], reads: {}, failed: null });
  });

  it('reads a condition of which most is missing', () => {
    const [condition] = readTrace({
      at: 'rules/a.yaml:3:5',
      conditions: [{ name: 'x', value: false, line: 7 }],
    }).conditions;

    expect(condition).toMatchObject({
      name: 'x',
      state: 'false',
      text: '',
      seen: {},
      because: [],
      why: null,
      look: { file: 'rules/a.yaml', line: 7, col: 0 },
    });
  });

  it('looks at the part that decided, as deep as it is told', () => {
    const inner = { source: 'm.b', line: 9, col: 3, value: false };
    const because = [
      {
        source: 'l.all(m, m.a && m.b)',
        line: 8,
        col: 1,
        value: false,
        loop: { variable: 'm', of: 2, index: 0, because: [inner] },
      },
    ];
    const looks = [true, false, null].map(
      (value) =>
        readTrace({ at: 'a.yaml:1:1', conditions: [{ name: 'x', value, line: 7, col: 5, because }] }).conditions[0]
          ?.look.line,
    );

    expect(looks).toEqual([7, 9, 7]);
  });

  it.each<[string, Json | undefined, object | null]>([
    ['a place', 'rules/a.yaml:12:5', { file: 'rules/a.yaml', line: 12, col: 5 }],
    ['a path with colons', 'C:\\rules:a.yaml:12:5', { file: 'C:\\rules:a.yaml', line: 12, col: 5 }],
    ['a text', 'somewhere', null],
    ['nothing', undefined, null],
  ])('%s', (_what, text, place) => {
    expect(readPlace(text)).toEqual(place);
  });
});

describe('insight/short-json', () => {
  it.each<[string, Json | undefined, string]>([
    ['nothing kept', undefined, 'not kept'],
    ['something else', { odd: 1 }, 'not kept'],
    ['not there', { missing: true }, 'not there'],
    ['a failure', { failed: 'timed out' }, 'failed: timed out'],
    ['null', { value: null }, 'null'],
    ['a long text', { value: 'x'.repeat(100) }, `"${'x'.repeat(60)}…" (100 characters)`],
    ['no items', { value: [] }, 'empty list'],
    [
      'items',
      { value: [1, 'a', { id: 3, name: 'b', more: true }, [1]] },
      'list of 4: 1, "a", {id: 3, name: "b", … 1 more}, …',
    ],
    [
      'a map',
      { value: { a: 1, b: { c: 2 }, d: null, e: true, f: 'x', g: 'y' } },
      '{a: 1, d: null, e: true, f: "x", … 2 more}',
    ],
    [
      'what people must not find',
      { value: { token_last_eight: 'canary', config: { secret: 'canary' } } },
      '{token_last_eight: (hidden), … 1 more}',
    ],
  ])('shows %s in one line', (_what, answer, expected) => {
    expect(shortAnswer(answer)).toBe(expected);
  });

  it('shows all of it where that is asked for, but for what people must not find', () => {
    const value = { text: 'x'.repeat(100), list: [[1, 2], { deep: true, secret: 'canary' }], f: 1, g: 2, h: 3 };

    const full = shortAnswer({ value }, true);

    expect(full).not.toContain('…');
    expect(JSON.parse(full)).toEqual({ ...value, list: [[1, 2], { deep: true, secret: '(hidden)' }] });
  });
});
