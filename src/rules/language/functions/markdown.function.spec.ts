import { describe, expect, it } from '@jest/globals';
import { ExpressionError, type Budget } from '../expression-engine.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { SPENT } from '../expressions/meter.js';
import { STEPS_PER_DECISION } from '../propose/bindings.js';

const engine = new CelEngine();
const HOSTILE = '@all fixes #1 <img src=x>\n| a | b |\n- [ ] `x` ![x](https://evil.example/x)\u202e';
const ISSUE = {
  number: 12,
  title: 'Broken | @ann',
  html_url: 'https://forge.example.org/acme/app/issues/12',
  body: 'x',
};

function call(source: string, x: unknown = null, budget?: Budget): unknown {
  return engine.compile(source, ['x', 'now']).evaluate({ x, now: new Date('2026-11-28T10:00:00Z') }, budget);
}

function failure(source: string, x?: unknown, budget?: Budget): string {
  try {
    return `gives ${String(call(source, x, budget))}`;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

describe('rules/functions/markdown', () => {
  it.each<[string, unknown, string]>([
    ['md_list(x)', [], ''],
    ['md_list(x)', ['a', 'b'], '- a\n- b'],
    ['md_list([1, 2.5, true, null])', null, '- 1\n- 2.5\n- true\n- '],
    ['md_list([now])', null, '- 2026-11-28T10:00:00Z'],
    ['md_list([["a", "*b*"], []])', null, '- a, \\*b\\*\n- '],
    ['md_list(x.map(i, i.title))', [ISSUE], '- Broken \\| @\u200bann'],
    ['md_list(x)', [ISSUE], '- [Broken \\| @\u200bann](https://forge.example.org/acme/app//issues/12)'],
    [
      'md_list([{"text": "1.4", "url": "https://x.example/a?b=1&c=2"}])',
      null,
      '- [1.4](https://x.example/a?b=1&amp;c=2)',
    ],
    [
      'md_list([{"text": "a", "url": "https://f.example/r/issues/3#issuecomment-9"}])',
      null,
      '- [a](https://f.example/r//issues/3#issuecomment-9)',
    ],
    [
      'md_list([{"text": "a", "url": "https://f.example/r/pulls/3/files?x=1#/issues/3"}])',
      null,
      '- [a](https://f.example/r//pulls/3/files?x=1#/issues/3)',
    ],
    ['md_list(x)', [{ name: 'v1+b', html_url: 'https://f.example/r/releases/tag/v1+b)' }], '- v1+b'],
    ['md_list([{"text": "1.4", "url": ""}])', null, '- 1.4'],
    [
      'md_list(x)',
      [{ name: '', tag_name: 'v1', html_url: 'https://f.example/r/releases/tag/v1' }],
      '- [v1](https://f.example/r/releases/tag/v1)',
    ],
    ['md_table(x, ["title"])', [], ''],
    ['md_table([{"a|b": "c\\nd"}], ["a|b"])', null, '| a\\|b |\n| --- |\n| c d |'],
    ['md_table(x, ["number", "title"])', [ISSUE], '| number | title |\n| --- | --- |\n| 12 | Broken \\| @\u200bann |'],
    ['md_table([{"who": null, "of": ["a", "b"]}], ["of", "who"])', null, '| of | who |\n| --- | --- |\n| a, b |  |'],
  ])('%s of %j', (source, x, markdown) => {
    expect(call(source, x)).toBe(markdown);
  });

  it.each([
    'md_list([x])',
    'md_list([[x]])',
    'md_list([{"text": x, "url": "https://f.example/a"}])',
    'md_table([{"a": x}], ["a"])',
    'md_table([{"a": 1}].map(r, {x: r.a}), [x])',
  ])('%s: what others wrote does nothing', (source) => {
    const markdown = String(call(source, HOSTILE));

    expect(markdown).not.toMatch(/@all|#1|<img|!\[|:\/\/evil|\u202e|(?<!\\)`/);
    const pipes = markdown.split('\n').map((line) => line.match(/(?<!\\)\|/g)?.length ?? 0);
    expect(pipes).toEqual(source.startsWith('md_list') ? [0] : [2, 2, 2]);
  });

  it.each<[string, unknown, string]>([
    [
      'md_list([{"text": "a", "url": "javascript:alert(1)"}])',
      null,
      '"javascript:alert(1)" is no address that a link may have',
    ],
    [
      'md_list([{"text": "a", "url": "https://x.example/a)b"}])',
      null,
      '"https://x.example/a)b" is no address that a link may have',
    ],
    ['md_list([{"a": 1}])', null, 'md_list takes texts, numbers, times, and maps that have a text, title or name'],
    ['md_table(["a"], ["b"])', null, 'md_table takes a list of maps, row 1 is none'],
    ['md_table([{"b": 1}, {"c": 1}], ["b"])', null, 'row 2 of the table has no "b"'],
    ['md_table([{"b": 1}], [])', null, 'md_table takes 1 to 12 columns, this has 0'],
    ['md_table([{"b": 1}], [1])', null, 'md_table takes the names of its columns as texts'],
  ])('%s is an error', (source, x, message) => {
    expect(failure(source, x)).toBe(message);
  });

  it('is bounded, and says how much is left out', () => {
    const many = Array.from({ length: 900 }, () => '@'.repeat(250));
    const list = String(call('md_list(x)', many, { remaining: 1e9 }));
    const table = String(call('md_table(x.map(t, {"t": t}), ["t"])', many, { remaining: 1e9 }));

    for (const text of [list, table]) expect(Buffer.byteLength(text)).toBeLessThan(13 * 1024);
    const rows = list.split('\n').length - 1;
    expect(list).toMatch(new RegExp(`\n- and ${900 - rows} more$`));
    expect(table).toMatch(/\n\nAnd \d+ more\.$/);
    expect(list.split('\n')[0]).toBe(`- ${'@\u200b'.repeat(200)}…`);
  });

  it('is paid for by what it looks at, before it works', () => {
    expect(
      failure(
        'md_list(x)',
        Array.from({ length: 500 }, () => 'a'.repeat(200)),
        { remaining: 8_000 },
      ),
    ).toBe(SPENT);
    expect(failure('md_table([{"a": x}], ["a"])', 'a'.repeat(2_000_000), { remaining: 8_000 })).toBe(SPENT);
    const issues = Array.from({ length: 300 }, () => ({ ...ISSUE, body: 'x'.repeat(2_000), user: { login: 'ann' } }));
    expect(failure('md_list(x)', issues, { remaining: STEPS_PER_DECISION / 4 })).toMatch(/^gives - /);
  });

  it.each([
    ['md_list(x)', true],
    ['size(x) == 0 ? "Nothing." : md_list(x)', true],
    ['size(x) == 0 ? x[0] : md_list(x)', false],
    ['x == null ? "a" : "b"', false],
    ['x[0] + md_list(x)', false],
    ['md_list(x).replace("a", x[0])', false],
    ['[md_list(x)]', false],
    ['x', false],
  ])('%s needs no more escaping: %s', (source, isMarkdown) => {
    expect(engine.compile(source, ['x']).isMarkdown).toBe(isMarkdown);
  });
});
