import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { jsonBytesOf, readText } from './json-bytes.js';

const form = (text: string): Buffer => Buffer.from(`payload=${new URLSearchParams({ p: text }).toString().slice(2)}`);

describe('core/json-bytes', () => {
  it('gives a JSON body as it came', () => {
    const body = Buffer.from(' {"a": 1}\n');

    expect(jsonBytesOf('json', body)).toBe(body);
  });

  it('decodes the one field payload to the bytes that were encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(Buffer.from(text).toString() === text);
        expect(jsonBytesOf('form', form(text))?.toString('utf8')).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['other fields beside it', 'a=1&payload=%7B%7D&b=2', '{}'],
    ['fields of names like it', 'payloads=1&xpayload=2&payload.=3&payloa=4&payload=%7B%7D', '{}'],
    ['empty fields around it', '&&payload=%7B%7D&', '{}'],
    ['a plus as a space', 'payload=a+b%2Bc', 'a b+c'],
    ['an empty value', 'payload=', ''],
    ['the name alone', 'payload', ''],
  ])('%s => decoded', (_title, body, text) => {
    expect(jsonBytesOf('form', Buffer.from(body))?.toString()).toBe(text);
  });

  it.each([
    ['no payload', 'other=1'],
    ['nothing', ''],
    ['payload twice', 'payload=%7B%7D&payload=%7B%7D'],
    ['payload twice, once without a value', 'payload&payload=%7B%7D'],
    ['payload twice, once at the end', 'payload=%7B%7D&payload'],
    ['a percent sign alone', 'payload=%'],
    ['half an escape', 'payload=%7'],
    ['an escape that is no number', 'payload=%zz'],
    ['a JSON text', '{"payload":1}'],
    ['the name encoded', '%70ayload=%7B%7D'],
  ])('%s => no text', (_title, body) => {
    expect(jsonBytesOf('form', Buffer.from(body))).toBeNull();
  });

  it('keeps broken UTF-8 for the check that refuses it', () => {
    expect(jsonBytesOf('form', Buffer.from('payload=%ff%fe'))).toEqual(Buffer.from([0xff, 0xfe]));
  });

  it('keeps a byte order mark, which no JSON parser takes', () => {
    expect(readText('json', Buffer.from('\uFEFF{}')).text).toBe('\uFEFF{}');
  });

  it('hashes a text once, and takes the hash that is known', () => {
    const body = Buffer.from('{}');
    const { textHash } = readText('json', body);

    expect(textHash).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
    expect(readText('json', body, 'known')).toEqual({ text: '{}', textHash: 'known' });
  });
});
