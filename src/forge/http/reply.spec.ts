import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readJson, readText, checkReply, WrongShape, readRetryAfterS } from './reply.js';
import { operationOf } from '../operations.js';

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

describe('forge/http/read-text', () => {
  it.each<[string, Buffer, string | null]>([
    ['a text', Buffer.from('a ä\n'), 'a ä\n'],
    ['nothing', Buffer.from(''), ''],
    ['what is not UTF-8', Buffer.from([0x61, 0xe4, 0x0a]), null],
  ])('reads %s', (_what, body, expected) => {
    expect(readText(body)).toBe(expected);
  });
});

const BRANCH = JSON.stringify({
  name: 'release/1.4',
  commit: {
    id: 'ab'.repeat(20),
    message: 'one\ntwo "three"',
    author: { name: 'Olga', email: 'olga@example.org' },
    timestamp: '2026-11-20T10:00:00+01:00',
    verification: null,
  },
  protected: false,
  required_approvals: 0,
  status_check_contexts: [],
});

const read = (text: string): unknown => checkReply(operationOf('createBranch'), readJson(Buffer.from(text)), true);

const WRONG: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(7, 1.5, true, 'text', [], {}, [{}]),
  fc.string(),
);

describe('forge/http/check-reply', () => {
  it('reads the whole answer', () => {
    expect(read(BRANCH)).toMatchObject({ name: 'release/1.4', protected: false });
  });

  it('takes no beginning of an answer for an answer', () => {
    for (let length = 0; length < BRANCH.length; length += 1) expect(() => read(BRANCH.slice(0, length))).toThrow();
  });

  it('takes no answer with a field of another type for an answer', () => {
    const right = JSON.parse(BRANCH) as Record<string, unknown>;
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(right)), WRONG, (field, value) => {
        const own = right[field];
        const isSameKind =
          typeof own === typeof value && Array.isArray(own) === Array.isArray(value) && !Number.isNaN(value);
        fc.pre(!isSameKind);
        expect(() => read(JSON.stringify({ ...right, [field]: value }))).toThrow(WrongShape);
      }),
      { numRuns: 500 },
    );
  });

  it('reads any list of rows with null and missing fields, or says that it cannot: nothing else', () => {
    const row = fc.record(
      {
        id: fc.oneof(fc.nat(), fc.constant(null)),
        op_type: fc.oneof(fc.string(), fc.constant(null)),
        repo: fc.constantFrom(null, {}),
        created: fc.constantFrom(null, '1970-01-01T00:00:00Z'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(row, fc.constant(null))), (rows) => {
        expect(checkReply(operationOf('listOrgFeed'), rows as never, false)).toHaveLength(
          rows.filter((one) => one !== null).length,
        );
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (anything) => {
        try {
          checkReply(operationOf('listOrgFeed'), anything as never, false);
        } catch (error) {
          expect(error).toBeInstanceOf(WrongShape);
        }
      }),
    );
  });

  it('names the place of a mistake, never the value', () => {
    expect(() => read('{"name":"x","commit":{"author":{"email":7}}}')).toThrow('commit.author.email: expected string');
    expect(() => read('{"name":["c4nary"]}')).not.toThrow('c4nary');
    expect(() => read('{"name":["c4nary"]}')).toThrow('name: expected string');
  });

  it.each(['{}', '{"message":"no"}', '{"message":"no","url":"u"}', '{"nothing_known":1}'])(
    'takes %s for no proof of a write',
    (text) => {
      expect(() => read(text)).toThrow('no field of the answer is known');
    },
  );

  it('lets a read be empty, since every field may be absent', () => {
    expect(checkReply(operationOf('getBranch'), {}, false)).toEqual({});
  });
});

const NOW = new Date('2026-11-20T12:00:00Z');

describe('forge/http/retry-after', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['0', 0],
    [' 17 ', 17],
    ['900', 900],
    ['901', 900],
    ['99999999999999999999', 900],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30],
    ['Friday, 20-Nov-26 12:01:00 GMT', 60],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['Fri, 20 Nov 2099 11:00:00 GMT', 900],
    ['Fri, 99 Nov 2099', undefined],
  ])('%p => %p', (header, seconds) => {
    expect(readRetryAfterS(header, NOW)).toBe(seconds);
  });
});
