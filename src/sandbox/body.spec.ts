import { describe, expect, it } from '@jest/globals';
import { Refusal } from './answer.js';
import { bind, field, firstJson } from './body.js';
import type { Call } from './handler.js';

function aCall(bodyText: string, contentType: string | null = 'application/json', method = 'POST'): Call {
  return { bodyText, contentType, method } as Call;
}

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'taken';
}

const FIELDS = {
  name: field.text({ required: true, max: 3 }),
  count: field.int(),
  ids: field.ids(),
  when: field.time(),
  isOn: field.flag(),
};

describe('sandbox/body', () => {
  it.each([
    ['text after the value', '{"name":"a"} x', { name: 'a' }],
    ['keys in another case', '{"NAME":"a"}', { name: 'a' }],
    ['null fields', '{"name":"a","count":null}', { name: 'a' }],
    ['unknown fields', '{"name":"a","other":[1]}', { name: 'a' }],
    ['ids above 2^53', '{"name":"a","ids":[9007199254740993]}', { name: 'a', ids: [9007199254740993n] }],
    ['a time with an offset', '{"name":"a","when":"1970-01-01T02:00:00+01:00"}', { name: 'a', when: 3600 }],
  ])('takes %s', (_, text, expected) => {
    expect(bind(aCall(text), FIELDS)).toMatchObject(expected);
  });

  it.each([
    ['nothing', '', '[Name]: Required'],
    ['null', 'null', '[Name]: Required'],
    ['an empty text', '{"name":""}', '[Name]: Required'],
    ['a text that is too long', '{"name":"üüüü"}', '[Name]: MaxSize'],
    ['an array', '[]', '[]: json'],
    ['another type', '{"name":1}', '[]: json'],
    ['a fraction for a whole number', '{"name":"a","count":1.5}', '[]: json'],
    ['a date without a time', '{"name":"a","when":"2026-01-01"}', '[]: json'],
    ['half an object', '{"name":', '[]: '],
  ])('refuses %s', (_, text, expected) => {
    expect(refusalOf(() => bind(aCall(text), FIELDS))).toContain(`422 ${expected}`);
  });

  it.each([
    ['no content type of a POST', null, 'POST', '422 []: Empty Content-Type'],
    ['no content type of a PATCH', null, 'PATCH', 'taken'],
    ['text/plain', 'text/plain', 'PATCH', '422 []: Unsupported Content-Type'],
    ['a charset', 'application/json; charset=utf-8', 'POST', 'taken'],
  ])('%s => %s %s', (_, type, method, expected) => {
    expect(refusalOf(() => bind(aCall('{}', type, method), { name: field.text() }))).toBe(expected);
  });

  it('reads a form by the types of the fields', () => {
    const form = aCall('name=a+b&count=7&ids=1&ids=2&isOn=true', 'application/x-www-form-urlencoded');

    expect(bind(form, { ...FIELDS, name: field.text() })).toEqual({
      name: 'a b',
      count: 7,
      ids: [1n, 2n],
      isOn: true,
      when: undefined,
    });
  });

  it('counts an empty list as given', () => {
    const fields = { files: field.texts({ required: true }) };

    expect(bind(aCall('{"files":[]}'), fields)).toEqual({ files: [] });
    expect(refusalOf(() => bind(aCall('{}'), fields))).toBe('422 [Files]: Required');
  });

  it.each([
    ['"a}b" {', 'a}b'],
    ['{"a":"\\"}"}}', { a: '"}' }],
    ['[1,[2]] 3', [1, [2]]],
    ['12 3', 12],
    ['  ', null],
  ])('the first value of %j is %j', (text, expected) => {
    expect(firstJson(text)).toEqual(expected);
  });
});
