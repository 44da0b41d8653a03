import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse, stringify } from 'lossless-json';
import { parseJson, stringifyJson } from './json.js';
import { Secret } from './secret.js';

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
  it('reads what it wrote, as a parser does that takes every number for itself', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (json, space) => {
        const text = stringifyJson(json, space);
        expect(parseJson(text)).toEqual(
          parse(text, undefined, (digits) =>
            /^-?\d+$/.test(digits) && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : Number(digits),
          ),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('writes as a writer does that writes every value for itself', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (json, space) => {
        expect(stringifyJson(json, space)).toBe(stringify(json, undefined, space));
      }),
      { numRuns: 500 },
    );
  });

  it('leaves out what has no value, writes a time as text, and says nothing of a secret', () => {
    const told = {
      at: new Date(0),
      none: undefined,
      list: [undefined, 2n ** 64n],
      token: new Secret('s3cret'),
      id: -(2n ** 63n),
    };
    expect(stringifyJson(told)).toBe(
      `{"at":"1970-01-01T00:00:00.000Z","list":[null,18446744073709551616],"token":${JSON.stringify(new Secret('s3cret'))},"id":-9223372036854775808}`,
    );
    expect(stringifyJson(told)).not.toContain('s3cret');
    expect(stringifyJson(undefined)).toBe('null');
  });

  it('refuses a value that holds itself', () => {
    const value: Record<string, unknown> = { id: 2n ** 60n };
    value['self'] = value;
    expect(() => stringifyJson(value)).toThrow(TypeError);
  });

  it('keeps all digits behind a long text with quotes and backslashes', () => {
    const text = '"\\'.repeat(100_000);
    expect(parseJson(JSON.stringify({ text }).replace('}', ',"id":9007199254740993}'))).toEqual({
      text,
      id: 9007199254740993n,
    });
  });

  it.each([
    '9007199254740993.5',
    '9007199254740993e2',
    '-9007199254740993E-2',
    '1.9007199254740993',
    '1000000000000000',
    '-9007199254740991',
  ])('reads %s as a number', (text) => {
    expect(parseJson(`[${text}]`)).toEqual([Number(text)]);
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '[1,9007199254740993]',
    '{"a": 9007199254740993}',
    '{"a":\n\t9007199254740993}',
  ])('keeps all digits of %s', (text) => {
    expect(stringifyJson(parseJson(text))).toContain('9007199254740993');
  });

  it('takes the digits of a hash for what they are', () => {
    expect(parseJson('{"sha":"1234567890123456789","0123456789012345678":"a1234567890123456789"}')).toEqual({
      sha: '1234567890123456789',
      '0123456789012345678': 'a1234567890123456789',
    });
  });

  it.each([
    '{',
    '9007199254740993,',
    '[0 9007199254740993]',
    '[9007199254740993 0]',
    '{9007199254740993:1}',
    '[09007199254740993]',
    '[--9007199254740993]',
    '[+9007199254740993]',
    '[9007199254740993.]',
    '9007199254740993"a"',
    '"a"9007199254740993',
    '[9007199254740993,"a]',
    '[9007199254740993,"\\"]',
  ])('refuses %s, which is no JSON', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
