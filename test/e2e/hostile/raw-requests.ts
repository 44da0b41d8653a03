import { gzipSync } from 'node:zlib';
import { sampleBody } from '../../builders/sample-bodies.js';
import { sign } from './a-receiver.js';

/** Bytes on a connection as no honest client writes them. */
export interface RawRequest {
  readonly name: string;
  readonly bytes: Buffer;
  /** The sender's side is closed after the bytes; else it stays open, as of one who waits. */
  readonly half?: true;
}

const BODY = JSON.stringify({ ...sampleBody('push'), raw: true });
const CRLF = '\r\n';
const GOOD_HEADERS = [
  'Host: bot',
  'Content-Type: application/json',
  'X-Gitea-Event: push',
  'X-Gitea-Event-Type: push',
  'X-Gitea-Delivery: raw',
  `X-Gitea-Signature: ${sign(BODY)}`,
];

const head = (line: string, ...headers: string[]): string => [line, ...headers, '', ''].join(CRLF);
const post = (headers: readonly string[], body: string | Buffer = BODY): Buffer =>
  Buffer.concat([
    Buffer.from(head('POST /webhooks/acme HTTP/1.1', ...GOOD_HEADERS, ...headers), 'latin1'),
    Buffer.from(body),
  ]);
const raw = (name: string, bytes: string | Buffer): RawRequest => ({
  name,
  bytes: Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes, 'latin1'),
});
const length = Buffer.byteLength(BODY);
const chunk = (text: string): string => `${text.length.toString(16)}${CRLF}${text}${CRLF}`;

/** Requests that each go out whole on a connection of their own. */
export const RAW_REQUESTS: readonly RawRequest[] = [
  raw('nothing but line ends', CRLF.repeat(1_000)),
  raw('noise', Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 7919) % 256))),
  raw('a TLS hello', Buffer.from('160301020001000001fc0303' + '00'.repeat(500), 'hex')),
  raw('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  raw('HTTP/0.9', 'GET /webhooks/acme\r\n'),
  raw('HTTP/3.7', head('POST /webhooks/acme HTTP/3.7', ...GOOD_HEADERS)),
  raw('a method that is none', head('STEAL /webhooks/acme HTTP/1.1', 'Host: bot')),
  raw('CONNECT', head('CONNECT 127.0.0.1:22 HTTP/1.1', 'Host: bot')),
  raw('OPTIONS *', head('OPTIONS * HTTP/1.1', 'Host: bot')),
  raw('TRACE', head('TRACE /webhooks/acme HTTP/1.1', 'Host: bot')),
  raw('no Host', head('POST /webhooks/acme HTTP/1.1', ...GOOD_HEADERS.slice(1), 'Content-Length: 2') + '{}'),
  raw('two Hosts', head('POST /webhooks/acme HTTP/1.1', ...GOOD_HEADERS, 'Host: other', 'Content-Length: 2') + '{}'),
  raw(
    'an upgrade to WebSocket',
    head(
      'GET /webhooks/acme HTTP/1.1',
      'Host: bot',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: AAAA',
      'Sec-WebSocket-Version: 13',
    ),
  ),
  raw(
    'an upgrade to HTTP/2',
    head(
      'GET /healthz HTTP/1.1',
      'Host: bot',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ),
  ),
  raw('a path up and out', head('GET /webhooks/../../../../etc/passwd HTTP/1.1', 'Host: bot')),
  raw('a path of escapes', head('POST /webhooks/%2e%2e%2f%00%ff%c0%af HTTP/1.1', 'Host: bot', 'Content-Length: 0')),
  raw('an escape that is broken', head('POST /webhooks/%zz HTTP/1.1', 'Host: bot', 'Content-Length: 0')),
  raw('a NUL in the path', head('POST /webhooks/a\0b HTTP/1.1', 'Host: bot')),
  raw('a path of 15 kB', head(`POST /webhooks/${'a'.repeat(15_000)} HTTP/1.1`, 'Host: bot', 'Content-Length: 0')),
  raw('a path of a megabyte', `POST /webhooks/${'a'.repeat(1_000_000)} HTTP/1.1${CRLF}`),
  raw(
    'an absolute address',
    head('POST http://169.254.169.254/webhooks/acme HTTP/1.1', ...GOOD_HEADERS, `Content-Length: ${length}`) + BODY,
  ),
  raw(
    'a query of 10,000 names',
    head(`POST /webhooks/acme?${'a=1&'.repeat(3_000)} HTTP/1.1`, 'Host: bot', 'Content-Length: 0'),
  ),
  raw('headers of a megabyte', head('POST /webhooks/acme HTTP/1.1', `X-Filler: ${'a'.repeat(1_000_000)}`)),
  raw('10,000 headers', head('POST /webhooks/acme HTTP/1.1', ...Array.from({ length: 10_000 }, (_, i) => `X-${i}: 1`))),
  raw('a header without an end', `POST /webhooks/acme HTTP/1.1${CRLF}X-Filler: ${'a'.repeat(100_000)}`),
  raw('a header without a name', head('POST /webhooks/acme HTTP/1.1', ': x')),
  raw('a folded header', head('POST /webhooks/acme HTTP/1.1', 'X-Gitea-Event: pu', ' sh')),
  raw('a space before the colon', head('POST /webhooks/acme HTTP/1.1', 'Content-Length : 5', 'Host: bot') + 'hello'),
  raw('a bare carriage return in a header', head('POST /webhooks/acme HTTP/1.1', 'X-A: b\rX-Gitea-Event: push')),
  raw('a NUL in a header', head('POST /webhooks/acme HTTP/1.1', 'X-A: b\0c')),
  raw('__proto__ as a header', post(['__proto__: polluted', 'constructor: x', `Content-Length: ${length}`])),
  raw('two lengths that differ', post([`Content-Length: ${length}`, 'Content-Length: 3'])),
  raw(
    'a length and chunks',
    post([`Content-Length: ${length}`, 'Transfer-Encoding: chunked'], chunk(BODY) + chunk('')),
  ),
  raw('chunks, twice', post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], chunk(BODY) + chunk(''))),
  raw('chunks after another coding', post(['Transfer-Encoding: gzip, chunked'], chunk(BODY) + chunk(''))),
  raw('a coding that is none', post(['Transfer-Encoding: xchunked'], BODY)),
  raw('chunked, obfuscated', post(['Transfer-Encoding: \x0bchunked'], chunk(BODY) + chunk(''))),
  raw('a chunk size that is none', post(['Transfer-Encoding: chunked'], `zz${CRLF}${BODY}${CRLF}`)),
  raw('a chunk size beyond all bounds', post(['Transfer-Encoding: chunked'], `ffffffffffffffffff${CRLF}${BODY}`)),
  raw('a chunk of eight exabytes', post(['Transfer-Encoding: chunked'], `7fffffffffffffff${CRLF}${BODY}`)),
  raw('a negative chunk size', post(['Transfer-Encoding: chunked'], `-1${CRLF}${BODY}${CRLF}`)),
  raw('a chunk longer than told', post(['Transfer-Encoding: chunked'], `5${CRLF}${BODY}${CRLF}0${CRLF}${CRLF}`)),
  raw(
    'chunk extensions of 100 kB',
    post(['Transfer-Encoding: chunked'], `5;${'a=b;'.repeat(25_000)}${CRLF}hello${CRLF}`),
  ),
  raw('100,000 chunks of one byte', post(['Transfer-Encoding: chunked'], chunk('a').repeat(100_000) + chunk(''))),
  raw(
    'trailers of a megabyte',
    post(['Transfer-Encoding: chunked'], `${chunk(BODY)}0${CRLF}X-T: ${'a'.repeat(1_000_000)}${CRLF}${CRLF}`),
  ),
  raw(
    'a trailer that says who it is',
    post(['Transfer-Encoding: chunked'], `${chunk(BODY)}0${CRLF}X-Gitea-Event: release${CRLF}${CRLF}`),
  ),
  raw('a negative length', post(['Content-Length: -1'])),
  raw('a length in hexadecimal', post(['Content-Length: 0x10'])),
  raw('a length beyond a double', post(['Content-Length: 99999999999999999999999'])),
  raw('a length of 6 GB', post(['Content-Length: 6442450944'])),
  raw('a length that is too short', post(['Content-Length: 10'])),
  raw(
    'a second request in the body',
    post(
      ['Content-Length: 0'],
      head('POST /webhooks/acme HTTP/1.1', ...GOOD_HEADERS, `Content-Length: ${length}`) + BODY,
    ),
  ),
  { ...raw('a length that is too long, then the end', post([`Content-Length: ${length + 1_000}`])), half: true },
  {
    ...raw('half the headers, then the end', head('POST /webhooks/acme HTTP/1.1', ...GOOD_HEADERS).slice(0, 60)),
    half: true,
  },
  raw('a gzip body', post(['Content-Encoding: gzip', `Content-Length: ${gzipSync(BODY).length}`], gzipSync(BODY))),
  raw(
    'a gzip bomb',
    post(
      ['Content-Encoding: gzip', `Content-Length: ${gzipSync(Buffer.alloc(50_000_000)).length}`],
      gzipSync(Buffer.alloc(50_000_000)),
    ),
  ),
  raw('an expectation', post(['Expect: 100-continue', `Content-Length: ${length}`])),
  raw('an expectation of the impossible', post(['Expect: 200-wonders', `Content-Length: ${length}`])),
  raw(
    '1,000 requests at once',
    Buffer.from(head('POST /webhooks/nobody HTTP/1.1', 'Host: bot', 'Content-Length: 0').repeat(1_000)),
  ),
  raw('1,000 looks at the health', Buffer.from(head('GET /healthz HTTP/1.1', 'Host: bot').repeat(1_000))),
];
