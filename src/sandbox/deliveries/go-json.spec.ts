import { describe, expect, it } from '@jest/globals';
import { writeFormField, writeGoJson } from './go-json.js';

describe('sandbox/deliveries/go-json', () => {
  it('indents by two spaces and escapes HTML characters inside strings only', () => {
    const text = writeGoJson({ title: '<b>&amp;</b> ü 🚀', list: [], nothing: null, left: undefined }, 2);

    expect(text).toBe(
      '{\n  "title": "\\u003cb\\u003e\\u0026amp;\\u003c/b\\u003e ü 🚀",\n  "list": [],\n  "nothing": null\n}',
    );
  });

  it('indents by one space where asked', () => {
    expect(writeGoJson({ a: { b: 1 } }, 1)).toBe('{\n "a": {\n  "b": 1\n }\n}');
  });

  it('writes ids beyond 2^53 with every digit', () => {
    expect(writeGoJson({ id: 9007199254740993n })).toBe('{"id":9007199254740993}');
  });

  it('escapes a form field so that decoding gives the same text', () => {
    const value = "a=b&c=d+e%20f\r\n~*'()!é";

    const field = writeFormField('payload', value);

    expect(field).toBe('payload=a%3Db%26c%3Dd%2Be%2520f%0D%0A~%2A%27%28%29%21%C3%A9');
    expect(new URLSearchParams(field).get('payload')).toBe(value);
  });
});
