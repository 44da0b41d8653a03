import { describe, expect, it } from '@jest/globals';
import { parseDocument } from 'yaml';
import type { Scalar } from 'yaml';
import type { ScalarStyle } from './node.js';
import { mapScalarOffsets, scalarPlaces } from './scalar-offsets.js';

/** Line and column in the file of the first `X` of the value of `a`. */
function placeOfX(text: string, style: ScalarStyle): string {
  const scalar = parseDocument(text).get('a', true) as Scalar<string>;
  const offsets = mapScalarOffsets(text, { kind: 'scalar', start: scalar.range![0], value: scalar.value, style });
  const offset = offsets[scalar.value.indexOf('X')]!;
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${before.at(-1)!.length + 1} ${text[offset]}`;
}

describe('rules/language/load/scalar-offsets', () => {
  it.each<[string, string, ScalarStyle, string]>([
    ['plain', 'a: one X', 'plain', '1:8 X'],
    ['plain over lines', 'a: one\n  two\n\n  three X', 'plain', '4:9 X'],
    ['single quotes with a doubled one', "a: 'it''s X'", 'single', '1:11 X'],
    ['single quotes over lines', "a: 'one\n\n    two X'", 'single', '3:9 X'],
    ['double quotes with escapes', String.raw`a: "\"q\" \t \x41 \u00e9 X"`, 'double', '1:26 X'],
    ['double quotes with a character beyond 16 bits', String.raw`a: "\U0001F600 X"`, 'double', '1:16 X'],
    ['double quotes with an escaped line break', 'a: "one \\\n   two X"', 'double', '2:8 X'],
    ['double quotes over lines', 'a: "one\n   two X"', 'double', '2:8 X'],
    ['a literal block', 'a: |\n  one\n    two\n  X', 'block', '4:3 X'],
    ['a literal block with an indicator and a comment', 'a: |-  # why\n   one\n   X', 'block', '3:4 X'],
    ['a literal block with blank lines', 'a: |\n  one\n\n\n  two X', 'block', '5:7 X'],
    ['a folded block', 'a: >-\n  one\n  two\n  X', 'block', '4:3 X'],
    ['a folded block with more indentation', 'a: >\n  one\n     two X\n  three', 'block', '3:10 X'],
    ['Windows line ends', 'a: |\r\n  one\r\n  two X\r\n', 'block', '3:7 X'],
  ])('finds a character again: %s', (_name, text, style, place) => {
    expect(placeOfX(text, style)).toBe(place);
  });

  it.each<[string, ScalarStyle, boolean]>([
    ['one X', 'plain', false],
    ["'one X'", 'single', false],
    ["'it''s X'", 'single', true],
    ['one\n  two X', 'plain', true],
  ])('%s is kept as a table only where characters do not follow each other', (written, style, isTable) => {
    const text = `a: ${written}`;
    const { value, range } = parseDocument(text).get('a', true) as Scalar<string>;
    const scalar = { kind: 'scalar', start: range![0], value, style } as const;

    const { first, length, offsets } = scalarPlaces(text, scalar);

    expect([length, offsets !== null]).toEqual([value.length, isTable]);
    expect(Array.from({ length: length + 1 }, (_, n) => offsets?.[n] ?? first + n)).toEqual([
      ...mapScalarOffsets(text, scalar),
    ]);
  });
});
