import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../../test/builders/rule-environment.js';
import { atOnce } from '../../../core/in-slices.js';
import { FILE_LIMITS, lexemeSteps } from './check-size.js';
import { loadRules } from './load-rules.js';

const HEAD = 'version: 1\norg: acme\n';
const FULL = 255 * 1024;

function messages(text: string): string[] {
  const result = loadRules([{ path: 'r.yaml', text }], aLoadEnvironment());
  return result.ok ? [] : result.problems.map(({ message }) => message);
}

function fill(piece: string, bytes = FULL): string {
  return piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
}

/** Nine levels of nine aliases each: 387 million values out of 30 lines. */
function bomb(levels: number, width: number): string {
  const rows = Array.from(
    { length: levels },
    (_, level) =>
      `  l${level}: &l${level} [${Array.from({ length: width }, () => (level === 0 ? 'lol' : `*l${level - 1}`)).join(', ')}]`,
  );
  return `${HEAD}vars:\n${rows.join('\n')}\nrules: []\n`;
}

describe('rules/load, hostile files', () => {
  it.each([
    ['an alias bomb => too many aliases', bomb(10, 9), `more than ${FILE_LIMITS.aliases} aliases in one file`],
    [
      'an alias bomb of few aliases => too many values',
      `${HEAD}vars:\n  a: &a [${fill('1,', 8000)}1]\n  b: [*a, *a, *a, *a, *a, *a]\nrules: []\n`,
      'the file has more than 20,000 values',
    ],
    ['lists in lists => too deep', fill('['), 'nested deeper than 32 levels'],
    ['lists in lists, closed => too deep', '['.repeat(FULL / 2) + ']'.repeat(FULL / 2), 'nested deeper than 32 levels'],
    ['maps in maps => too deep', fill('{a: '), 'nested deeper than 32 levels'],
    ['block lists on one line => too deep', fill('- '), 'nested deeper than 32 levels'],
    ['keys of keys => too deep', fill('? '), 'nested deeper than 32 levels'],
    [
      'indentation without end => too deep',
      Array.from({ length: 700 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      'nested deeper than 32 levels',
    ],
    [
      'forty levels of indentation => too deep',
      `${HEAD}vars:\n${Array.from({ length: 40 }, (_, depth) => `${' '.repeat(depth + 1)}a:`).join('\n')}\nrules: []\n`,
      'nested deeper than 32 levels',
    ],
    [
      'many keys => too many values',
      Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n'),
      'the file has more than 20,000 values',
    ],
    ['many empty entries => too many values', `[${fill(',')}]`, 'the file has more than 20,000 values'],
    ['many documents => too many values', fill('---\n'), 'the file has more than 20,000 values'],
    ['many anchors => too many values', fill('- &a 1\n'), 'the file has more than 20,000 values'],
    ['a large file => refused unread', fill('# comment\n', 300 * 1024), 'the file is larger than 256 KB'],
    [
      'a large file in few characters => refused unread',
      `# ${'é'.repeat(140 * 1024)}`,
      'the file is larger than 256 KB',
    ],
    [
      'more expressions than any honest file has => refused before the rest is compiled',
      `${HEAD}rules:\n${Array.from({ length: 60 }, (_, n) => `  - {id: r${n}, on: push, if: "${'event.ref == event.ref && '.repeat(150)}true", do: {milestone.ensure: {title: a}}}`).join('\n')}\n`,
      'the file has more than 32 KB of expressions and patterns',
    ],
    [
      'more patterns than any honest file has => refused before the rest is compiled',
      `${HEAD}rules:\n${Array.from({ length: 600 }, (_, n) => `  - {id: r${n}, on: push, where: {repo: "${'{a,b}*'.repeat(30)}${n}"}, do: {milestone.ensure: {title: a}}}`).join('\n')}\n`,
      'the file has more than 32 KB of expressions and patterns',
    ],
  ])('%s', (_situation, text, message) => {
    expect(messages(text)).toContain(message);
  });

  it('reads no more of a file than its limits allow', () => {
    expect(atOnce(lexemeSteps(fill('- a\n')))).toMatchObject({ message: 'the file has more than 20,000 values' });
  });

  it('tells the first mistakes only when there is one per byte', () => {
    const text = `${HEAD}rules:\n${Array.from({ length: 500 }, (_, index) => `  - {id: r${index}, nope: 1}`).join('\n')}\n`;

    expect(messages(text)).toHaveLength(FILE_LIMITS.problems);
  });

  it.each([
    ['__proto__', '{"__proto__": {"polluted": 1}}'],
    ['constructor', '{constructor: {prototype: {polluted: 1}}}'],
    ['an escaped __proto__', '{"\\u005f_proto__": {"polluted": 1}}'],
  ])('leaves Object.prototype as it is: %s', (_name, value) => {
    const found = messages(`${HEAD}vars:\n  a: ${value}\nrules: []\n`);

    expect(found).toHaveLength(1);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    ['too long', `${'a'.repeat(5000)} == 1`, 'an expression may have 4096 characters, this has 5005'],
    ['deep brackets', `${'('.repeat(1500)}1${')'.repeat(1500)} == 1`, 'the expression is nested too deeply'],
    ['a long chain', `event${'.a'.repeat(1500)} == 1`, 'the expression is nested too deeply'],
    [
      'many operators in a row',
      `${Array.from({ length: 1500 }, () => '1').join('+')} == 1`,
      'the expression is nested too deeply',
    ],
    [
      'a repeated repetition',
      'event.ref.matches("((a{1,20}){1,20}){1,20}")',
      'the regular expression is too large (counted repetitions multiply)',
    ],
    [
      'a large class of them',
      `event.ref.matches("${'(x+x+)+y'.repeat(60)}")`,
      'the regular expression is too large (counted repetitions multiply)',
    ],
    [
      'a look-behind',
      'event.ref.matches("(?<=a)b")',
      'the regular expression does not parse: invalid named capture: `(?<=a)b` (there is no look-ahead and no look-behind)',
    ],
    [
      'a back-reference',
      String.raw`event.ref.matches("(a)\\1")`,
      String.raw`the regular expression does not parse: invalid escape sequence: ` +
        '`\\1` (there are no back references)',
    ],
  ])('refuses an expression that costs too much: %s', (_name, expression, message) => {
    expect(
      messages(
        `${HEAD}rules:\n  - id: x\n    on: push\n    if: ${JSON.stringify(expression)}\n    do: {milestone.ensure: {title: a}}\n`,
      ),
    ).toEqual([message]);
  });
});
