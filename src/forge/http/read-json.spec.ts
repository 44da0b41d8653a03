import { describe, expect, it } from '@jest/globals';
import { readJson } from './reply.js';

const nested = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));

describe('forge/http/read-json', () => {
  it.each<[string, Buffer, unknown]>([
    ['nothing', Buffer.from(''), undefined],
    ['spaces', Buffer.from(' \n'), undefined],
    ['an object', Buffer.from('{"id":9007199254740993}'), { id: 9007199254740993n }],
    ['64 levels', nested(64), JSON.parse(nested(64).toString())],
  ])('reads %s', (_what, body, expected) => {
    expect(readJson(body)).toEqual(expected);
  });

  it.each<[string, Buffer, RegExp]>([
    ['65 levels', nested(65), /a nesting deeper than 64/],
    ['a million levels', nested(1_000_000), /a nesting deeper than 64/],
    ['objects a million deep', Buffer.from('{"a":'.repeat(1_000_000)), /a nesting deeper than 64/],
    ['more values than any page has', Buffer.from(`[${'0,'.repeat(2_000_001)}0]`), /more than 2000000 values/],
    ['half a text', Buffer.from('{"id":'), /JSON/],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), /./],
  ])('refuses %s', (_what, body, why) => {
    expect(() => readJson(body)).toThrow(why);
  });
});
