import { randomBytes } from 'node:crypto';
import { AUTHORIZATION, OTHER_SECRET, SECRET, sign } from './a-receiver.js';
import type { Post } from './a-receiver.js';

/** Ways to send a delivery without knowing what its hook asks for. The body is a true one; `n` varies what can be varied. */
export const FORGERIES: ReadonlyArray<(body: string, n: number) => Post> = [
  (body) => ({ body, headers: {} }),
  (body) => ({ body, headers: { 'x-gitea-signature': '' } }),
  (body) => ({ body, headers: { 'x-gitea-signature': '0'.repeat(64) } }),
  (body, n) => ({ body, headers: { 'x-gitea-signature': sign(body, `guess ${n}`) } }),
  (body) => ({ body, headers: { 'x-gitea-signature': sign(body, '') } }),
  (body) => ({ body, headers: { 'x-gitea-signature': sign(body, OTHER_SECRET) } }),
  (body, n) => ({ body, headers: { 'x-gitea-signature': sign(`${body}${n}`) } }),
  (body, n) => ({ body: `${body} `.padEnd(body.length + 1 + (n % 5)), headers: { 'x-gitea-signature': sign(body) } }),
  (body) => ({ body, headers: { 'x-gitea-signature': sign(body) }, hook: 'other' }),
  (body, n) => ({ body, headers: { 'x-gitea-signature': sign(body).slice(0, n % 64) } }),
  (body, n) => ({ body, headers: { 'x-gitea-signature': sign(body) + (n % 16).toString(16) } }),
  (body, n) => ({ body, headers: { 'x-gitea-signature': changedAt(sign(body), n % 64) } }),
  (body) => ({ body, headers: { 'x-gitea-signature': sign(body).toUpperCase() } }),
  (body) => ({ body, headers: { 'x-gitea-signature': `sha256=${sign(body)}` } }),
  (body) => ({ body, headers: { 'x-gitea-signature': `${sign(body)}, ${sign(body)}` } }),
  (body) => ({ body, headers: { 'x-gitea-signature': Buffer.from(sign(body), 'hex').toString('base64') } }),
  (body) => ({ body, headers: { 'x-gitea-signature': randomBytes(32).toString('hex') } }),
  (body, n) => ({ body, headers: { 'x-gitea-signature': String.fromCharCode(0x80 + (n % 0x7f)).repeat(64) } }),
  (body) => ({ body, headers: { 'x-hub-signature': `sha1=${sign(body, SECRET, 'sha1')}` } }),
  (body) => ({ body, headers: { 'x-hub-signature': `sha256=${sign(body)}` } }),
  (body) => ({ body, headers: { 'x-hub-signature-256': sign(body) } }),
  (body) => ({ body, headers: { 'x-hub-signature-256': `sha512=${sign(body, SECRET, 'sha512')}` } }),
  (body) => ({ body, headers: { 'x-forgejo-signature': sign(body, SECRET, 'sha1') } }),
  (body) => ({ body, headers: { 'x-gogs-signature': sign(body, SECRET, 'sha512') } }),
  (body) => ({ body, headers: { authorization: SECRET } }),
  (body) => ({ body, headers: { authorization: AUTHORIZATION } }),
  // A hook that wants an Authorization header.
  (body) => ({ body, headers: {}, hook: 'token' }),
  (body) => ({ body, headers: { authorization: '' }, hook: 'token' }),
  (body) => ({ body, headers: { authorization: AUTHORIZATION.toLowerCase() }, hook: 'token' }),
  (body) => ({ body, headers: { authorization: AUTHORIZATION.slice('Bearer '.length) }, hook: 'token' }),
  (body, n) => ({ body, headers: { authorization: AUTHORIZATION.slice(0, n % AUTHORIZATION.length) }, hook: 'token' }),
  (body) => ({ body, headers: { 'x-gitea-signature': sign(body) }, hook: 'token' }),
  // A hook that wants both.
  (body) => ({ body, headers: { authorization: AUTHORIZATION }, hook: 'both' }),
  (body) => ({ body, headers: { 'x-gitea-signature': sign(body) }, hook: 'both' }),
  (body) => ({ body, headers: { 'x-gitea-signature': sign(body), authorization: `${AUTHORIZATION}x` }, hook: 'both' }),
];

function changedAt(hex: string, at: number): string {
  return hex.slice(0, at) + (hex[at] === 'f' ? 'e' : 'f') + hex.slice(at + 1);
}
