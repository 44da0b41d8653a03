import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson, parseWrittenJson, stringifyJson } from './json.js';

const value = fc.letrec((tie) => ({
  json: fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.boolean(),
    fc.constant(null),
    fc.stringMatching(/^[0-9a-f]{40}$/),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('json'), { maxKeys: 4 }),
  ),
})).json;

describe('core/json', () => {
  it('reads what it wrote to the last digit, by either way', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (json, space) => {
        const text = stringifyJson(json, space);
        expect(parseWrittenJson(text)).toEqual(parseJson(text));
      }),
      { numRuns: 500 },
    );
  });

  it.each(['9007199254740993', '-9007199254740993', '[1,9007199254740993]', '{"a": 9007199254740993}', '{"a":\n\t9007199254740993}'])(
    'keeps all digits of %s',
    (text) => {
      expect(stringifyJson(parseWrittenJson(text))).toContain('9007199254740993');
    },
  );

  it('takes the digits of a hash for what they are', () => {
    expect(parseWrittenJson('{"sha":"1234567890123456789","0123456789012345678":"a1234567890123456789"}')).toEqual({
      sha: '1234567890123456789',
      '0123456789012345678': 'a1234567890123456789',
    });
  });

  it('refuses what is no JSON', () => {
    expect(() => parseWrittenJson('{')).toThrow(SyntaxError);
  });
});
