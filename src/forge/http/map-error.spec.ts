import { describe, expect, it } from '@jest/globals';
import type { ForgeErrorKind } from '../../core/errors.js';
import { mapReply, cleanLine, redact } from './map-error.js';
import type { OperationName } from '../operations.js';

const JSON_TYPE = { 'content-type': 'application/json;charset=utf-8' };
const TEXT = { 'content-type': 'text/plain; charset=utf-8' };
const HTML = { 'content-type': 'text/html' };
const PAGE = '<html><body>Bad gateway</body></html>';
const NO = '{"message":"no","url":"http://forge/api/swagger"}';

const map = (
  status: number,
  headers: Record<string, string>,
  body: string,
  operation: OperationName = 'createLabel',
  secrets: string[] = [],
) =>
  mapReply({ operation, secrets, now: new Date('2026-11-20T12:00:00Z') }, { status, headers, body: Buffer.from(body) });

describe('forge/http/map-error', () => {
  it.each<[string, number, Record<string, string>, string, ForgeErrorKind]>([
    ['400 with a message', 400, JSON_TYPE, NO, 'refused'],
    ['401 with a message', 401, JSON_TYPE, NO, 'refused'],
    ['403 with an empty body', 403, {}, '', 'refused'],
    ['404 with a message', 404, JSON_TYPE, NO, 'refused'],
    ['404 with null', 404, JSON_TYPE, 'null', 'refused'],
    ['404 with an empty body', 404, {}, '', 'refused'],
    ['404 as plain text', 404, TEXT, '404 page not found\n', 'not-offered'],
    ['404 as HTML', 404, HTML, PAGE, 'unknown'],
    ['405 with an empty body', 405, {}, '', 'not-offered'],
    ['405 with a message (a merge)', 405, JSON_TYPE, NO, 'refused'],
    ['407 of a proxy', 407, HTML, PAGE, 'not-sent'],
    ['408', 408, JSON_TYPE, NO, 'unknown'],
    ['409 with a message', 409, JSON_TYPE, NO, 'refused'],
    ['413 as HTML', 413, HTML, PAGE, 'refused'],
    ['422 as an array', 422, JSON_TYPE, '[]', 'unknown'],
    ['422 without a message', 422, JSON_TYPE, '{"ok":false}', 'unknown'],
    ['422 cut', 422, JSON_TYPE, '{"message":"n', 'unknown'],
    ['423 with a message', 423, JSON_TYPE, NO, 'refused'],
    ['425', 425, JSON_TYPE, NO, 'unknown'],
    ['429 without Retry-After', 429, HTML, PAGE, 'rate-limited'],
    ['500 with an empty message', 500, JSON_TYPE, '{"message":"","url":""}', 'unknown'],
    ['502 as HTML', 502, HTML, PAGE, 'unknown'],
    ['503 without Retry-After', 503, HTML, PAGE, 'unknown'],
    ['503 with a Retry-After that makes no sense', 503, { ...HTML, 'retry-after': 'soon' }, PAGE, 'unknown'],
    ['504 as HTML', 504, HTML, PAGE, 'unknown'],
    ['301', 301, {}, '', 'moved'],
    ['302', 302, {}, '', 'moved'],
    ['307', 307, {}, '', 'moved'],
    ['308', 308, {}, '', 'moved'],
    ['304', 304, {}, '', 'unknown'],
    ['202 where 201 is meant', 202, JSON_TYPE, '{"id":1}', 'unknown'],
    ['206', 206, JSON_TYPE, '{"id":1}', 'unknown'],
  ])('%s => its kind', (_, status, headers, body, kind) => {
    expect(map(status, headers, body).kind).toBe(kind);
  });

  it.each<[string, number, Record<string, string>, string]>([
    ['404 as a page (Apache)', 404, HTML, PAGE],
    ['404 of a route that a decoded slash makes (nginx)', 404, TEXT, '404 page not found\n'],
    ['400 as a page (Tomcat)', 400, HTML, PAGE],
  ])('%s for a path with %%2F is a word of the proxy: about this object alone, and not "not there"', (_, ...reply) => {
    const [status, headers, body] = reply;
    const of = (path: string) =>
      mapReply(
        { operation: 'getBranch', path, secrets: [], now: new Date() },
        { status, headers, body: Buffer.from(body) },
      );

    expect(of('/repos/acme/app/branches/rel%2Fv9')).toMatchObject({ kind: 'refused', facts: { detail: 'slash' } });
    expect(of('/repos/acme/app/branches/rel%2Fv9').facts.status).toBeUndefined();
    expect(of('/repos/acme/app/branches/rel%2Fv9').message).toContain('AllowEncodedSlashes');
    expect(of('/repos/acme/app/branches/main').facts.detail).not.toBe('slash');
  });

  it('takes the word of the forge itself about a path with %2F', () => {
    const error = mapReply(
      { operation: 'getBranch', path: '/repos/acme/app/branches/rel%2Fv9', secrets: [], now: new Date() },
      { status: 404, headers: JSON_TYPE, body: Buffer.from(NO) },
    );

    expect(error).toMatchObject({ kind: 'refused', facts: { status: 404 } });
  });

  it.each([
    ['429', 429],
    ['503', 503],
  ])('%s with Retry-After tells how long to wait', (_, status) => {
    const error = map(status, { ...HTML, 'retry-after': '7' }, PAGE);

    expect(error).toMatchObject({
      kind: 'rate-limited',
      retry: 'rate-limited',
      facts: { operation: 'createLabel', status, retryAfterS: 7 },
    });
  });

  it("carries the forge's own words, cleaned", () => {
    const error = map(
      422,
      JSON_TYPE,
      '{"message":"[Name]: Required\\u001b[31m for hunter22","url":""}',
      'createLabel',
      ['hunter22'],
    );

    expect(error.facts.forgeMessage).toBe('[Name]: Required [31m for [secret]');
    expect(error.message).toBe('create a label: refused with status 422: [Name]: Required [31m for [secret]');
  });

  it('names the new path of something moved, never a foreign host', () => {
    const error = map(301, { location: 'https://evil.example/api/v1/repos/acme/new/labels?token=x' }, '');

    expect(error).toMatchObject({ kind: 'moved', facts: { status: 301, location: '/api/v1/repos/acme/new/labels' } });
    expect(JSON.stringify(error)).not.toContain('evil');
  });

  it('says that a 401 of op 7 may mean a blocked target', () => {
    expect(map(401, JSON_TYPE, NO, 'createPushMirror').message).toContain('mirror target');
    expect(map(401, JSON_TYPE, NO, 'createLabel').message).not.toContain('mirror target');
  });

  it('gives a retry word to each kind', () => {
    expect(map(400, JSON_TYPE, NO).retry).toBe('permanent');
    expect(map(500, JSON_TYPE, NO).retry).toBe('transient');
    expect(map(301, {}, '').retry).toBe('permanent');
  });
});

const SECRET = 'p@ss word/ü';

describe('forge/http/redact', () => {
  it.each([
    ['plain', SECRET],
    ['URL', encodeURIComponent(SECRET)],
    ['base64', Buffer.from(SECRET).toString('base64')],
    ['base64 for addresses', Buffer.from(SECRET).toString('base64url')],
    ['hex', Buffer.from(SECRET).toString('hex')],
  ])('takes a secret out in %s form', (_, form) => {
    expect(redact(`before ${form} after`, [SECRET])).toBe('before [secret] after');
  });

  it('leaves a text without the secret as it is', () => {
    expect(redact('label exists', [SECRET, ''])).toBe('label exists');
  });

  it('makes one line of a text from outside and cuts it', () => {
    expect(cleanLine('a\r\nb\u001b[31mc\u2028d')).toBe('a b [31mc d');
    expect(cleanLine('x'.repeat(501))).toHaveLength(501);
  });
});
