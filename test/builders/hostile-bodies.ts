import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { JsonObject } from '../../src/core/json.js';
import { sampleBody } from './sample-bodies.js';

export interface HostileBody {
  readonly name: string;
  readonly body: Buffer;
  /** Sent with a good signature unless the name says otherwise. */
  readonly status: number;
  /** Under which a worker sets it aside; null = its body is odd but honest, or it is not stored. */
  readonly code: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

const PUSH = sampleBody('push');
const push = (change: JsonObject = {}): string => JSON.stringify({ ...PUSH, ...change });
const first = (text: string): string => push().replace('{', `{${text},`);
const nested = (depth: number, open: string, close: string, inner = ''): string =>
  open.repeat(depth) + inner + close.repeat(depth);
/** @param outcome the status of the answer, or the code under which it is set aside */
const text = (name: string, body: string, outcome: number | string, headers?: Record<string, string>): HostileBody => ({
  name,
  body: Buffer.from(body),
  ...(typeof outcome === 'number' ? { status: outcome, code: null } : { status: 202, code: outcome }),
  ...(headers ? { headers } : {}),
});
const bytes = (name: string, ...parts: Array<string | number[]>): HostileBody => ({
  name,
  body: Buffer.concat(parts.map((part) => Buffer.from(part as string))),
  status: 202,
  code: 'not_utf8',
});

/** Bodies that a forge does not send: every one must get its answer, and none may take the process down. */
export const HOSTILE_BODIES: readonly HostileBody[] = [
  text('nothing', '', 'not_json'),
  text('a space', ' ', 'not_json'),
  text('a word', 'push', 'not_json'),
  text('a number', '1', 'not_json'),
  text('a string', '"x"', 'not_json'),
  text('null', 'null', 'not_json'),
  text('true', 'true', 'not_json'),
  text('an empty list', '[]', 'not_json'),
  text('an empty object', '{}', 'misfit'),
  text('half an object', push().slice(0, -20), 'unended_text'),
  text('two objects', push() + push(), 'not_json'),
  text('a comma at the end', push().replace(/\}$/, ',}'), 'not_json'),
  text('a comment', `/* */${push()}`, 'not_json'),
  text('single quotes', "{'repository':1}", 'not_json'),
  text('a bare key', '{repository:1}', 'not_json'),
  text('NaN', first('"a":NaN'), 'not_json'),
  text('Infinity', first('"a":Infinity'), 'not_json'),
  text('a hexadecimal number', first('"a":0x10'), 'not_json'),
  text('a number with a leading zero', first('"a":01'), 'not_json'),
  text('an escape that is none', first('"a":"\\x41"'), 'not_json'),
  text('a line break in a string', first('"a":"\n"'), 'not_json'),
  text('a NUL in a string', first('"a":"\u0000"'), 'not_json'),
  text('a byte order mark', `\uFEFF${push()}`, 'not_json'),
  bytes('a broken byte', '{"a":"', [0xff], '"}'),
  bytes('an overlong slash', '{"a":"', [0xc0, 0xaf], '"}'),
  bytes('a surrogate in UTF-8', '{"a":"', [0xed, 0xa0, 0x80], '"}'),
  bytes('half a character', '{"a":"', [0xe2, 0x82], '"}'),
  bytes('UTF-16', [0xff, 0xfe], Buffer.from(push(), 'utf16le').toString('latin1')),
  bytes(
    'random bytes',
    Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256),
  ),
  text('65 lists', first(`"a":${nested(65, '[', ']')}`), 'too_deep'),
  text('100,000 lists', nested(100_000, '[', ']'), 'too_deep'),
  text('a million lists', nested(1_000_000, '[', ']'), 'too_deep'),
  text('a million open lists', '['.repeat(1_000_000), 'too_deep'),
  text('100,000 objects in each other', nested(100_000, '{"a":', '}', '1'), 'too_deep'),
  text('lists and objects in each other', nested(50_000, '[{"a":', '}]', '1'), 'too_deep'),
  text('100,001 values', first(`"a":[${'0,'.repeat(100_001)}0]`), 'too_many_values'),
  text('100,001 empty lists', first(`"a":[${'[],'.repeat(100_001)}0]`), 'too_many_values'),
  text(
    '50,001 keys',
    first(`"a":{${Array.from({ length: 100_001 }, (_, i) => `"k${i}":0`).join(',')}}`),
    'too_many_values',
  ),
  text('a key twice', first('"ref":"refs/heads/evil"'), 'key_twice'),
  text('a key twice, once escaped', first('"\\u0072ef":"refs/heads/evil"'), 'key_twice'),
  text('a key twice, deep inside', push({ a: { b: [{ c: 1 }] } }).replace('"c":1', '"c":1,"c":2'), 'key_twice'),
  text('__proto__', first('"__proto__":{"admin":true}'), 'key_proto'),
  text('__proto__, escaped', first('"__pr\\u006fto__":{"admin":true}'), 'key_proto'),
  text('__proto__, deep inside', push({ a: 1 }).replace('"a":1', '"a":{"__proto__":{"admin":true}}'), 'key_proto'),
  text('constructor.prototype', push({ constructor: { prototype: { admin: true } } }), 202),
  text('toString as a value', push({ toString: 'x', hasOwnProperty: 1, toJSON: 'x' }), 202),
  text('a million digits', first(`"a":${'9'.repeat(1_000_000)}`), 'endless_number'),
  text('a huge exponent', first('"a":1e999999'), 202),
  text('an id beyond a double', first('"a":9007199254740993'), 202),
  text('a lone surrogate, escaped', first('"a":"\\ud800"'), 202),
  text('a NUL, escaped', first('"a":"\\u0000"'), 202),
  text('a megabyte of backslashes', first(`"a":"${'\\\\'.repeat(500_000)}"`), 202),
  text('4 MB of text', push({ a: 'x'.repeat(4_000_000) }), 202),
  text('5 MB and more', push({ a: 'x'.repeat(5 * 1024 * 1024) }), 413),
  text('a repository that is a list', push({ repository: [] }), 'misfit'),
  text('an owner that is a number', push({ repository: { ...(PUSH.repository as JsonObject), owner: 7 } }), 'misfit'),
  text('commits that are a text', push({ commits: 'x' }), 'misfit'),
  text('a ref that is an object', push({ ref: { toString: 'x' } }), 'misfit'),
  text('a ref with a line break and a colour code', push({ ref: 'refs/heads/\r\n\u001b[31mevil' }), 202),
  {
    name: 'a gzip bomb',
    body: gzipSync(Buffer.alloc(4_000_000)),
    status: 415,
    code: null,
    headers: { 'content-encoding': 'gzip' },
  },
  {
    name: 'a brotli bomb',
    body: brotliCompressSync(Buffer.alloc(4_000_000)),
    status: 415,
    code: null,
    headers: { 'content-encoding': 'br' },
  },
  {
    name: 'two codings',
    body: gzipSync(push()),
    status: 415,
    code: null,
    headers: { 'content-encoding': 'identity, gzip' },
  },
  text('XML', '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', 415, { 'content-type': 'application/xml' }),
  text('a form in name alone', push(), 401, { 'content-type': 'application/x-www-form-urlencoded' }),
  text('a form of a million fields', '&a=1'.repeat(1_000_000), 401, {
    'content-type': 'application/x-www-form-urlencoded',
  }),
];
