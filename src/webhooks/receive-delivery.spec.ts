import crypto, { createHmac } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { Secret } from '../core/secret.js';
import { readDeliveryHeaders, verify } from './receive-delivery.js';

const family = (name: string, eventType: string, event: string) => ({
  [`x-${name}-event-type`]: eventType,
  [`x-${name}-event`]: event,
  [`x-${name}-delivery`]: `id-of-${name}`,
  [`x-${name}-hook-installation-target-type`]: 'organization',
});

describe('webhooks/delivery-headers', () => {
  it.each(['forgejo', 'gitea', 'gogs'])('reads the family of %s', (name) => {
    expect(readDeliveryHeaders(family(name, 'issue_label', 'issues'))).toEqual({
      eventType: 'issue_label',
      event: 'issues',
      deliveryId: `id-of-${name}`,
      targetType: 'organization',
    });
  });

  it('believes Forgejo before Gitea before Gogs, and never a mixture', () => {
    const headers = {
      ...family('gogs', 'push', 'push'),
      ...family('gitea', 'create', 'create'),
      ...family('forgejo', 'release', 'release'),
    };

    expect(readDeliveryHeaders(headers)).toMatchObject({
      eventType: 'release',
      event: 'release',
      deliveryId: 'id-of-forgejo',
    });
  });

  it('reads a package of Forgejo, whose family name is empty', () => {
    expect(
      readDeliveryHeaders({ ...family('forgejo', 'package', ''), ...family('gitea', 'package', '') }),
    ).toMatchObject({ eventType: 'package', event: '' });
  });

  it.each<[string, Record<string, string>]>([
    ['no header at all', {}],
    ["GitHub's alone", { 'x-github-event': 'push', 'x-github-event-type': 'push' }],
    ['an event twice, joined', family('gitea', 'push, push', 'push')],
    ['an event with a space', family('gitea', 'push x', 'push')],
    ['a family name that is none', family('gitea', 'push', '<b>')],
    ['an endless name', family('gitea', 'p'.repeat(65), 'push')],
  ])('%s => none', (_title, headers) => {
    expect(readDeliveryHeaders(headers)).toMatchObject({ eventType: '', event: '' });
  });

  it('cuts an endless delivery id', () => {
    expect(
      readDeliveryHeaders({ ...family('gitea', 'push', 'push'), 'x-gitea-delivery': 'x'.repeat(5000) }).deliveryId,
    ).toHaveLength(200);
  });
});

const TEXT = Buffer.from('{"action":"opened","title":"ünïcode"}');
const hmac = (secret: string, text = TEXT): string => createHmac('sha256', secret).update(text).digest('hex');
const hook = (secrets: string[], authorizations: string[] = []) => ({
  secrets: secrets.map((s) => new Secret(s)),
  authorizations: authorizations.map((s) => new Secret(s)),
});
const GOOD = hmac('s3cret');
const flipped = (GOOD.startsWith('0') ? '1' : '0') + GOOD.slice(1);

/** The bytes of each compare that the work makes, by the one function that takes the same time wherever they differ. */
function comparesOf(work: () => unknown): number[] {
  const compare = jest.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  try {
    work();
    return compare.mock.calls.map(([given]) => given.byteLength);
  } finally {
    compare.mockRestore();
    syncBuiltinESMExports();
  }
}

describe('webhooks/signature', () => {
  it.each([0, 1, 31, 32, 62, 63])('compares all 32 bytes once for each secret when digit %i is wrong', (at) => {
    const digit = GOOD[at] === 'a' ? 'b' : 'a';
    const wrong = GOOD.slice(0, at) + digit + GOOD.slice(at + 1);

    for (const [secrets, signature] of [
      [['s3cret'], wrong],
      [['s3cret'], GOOD],
      [['s3cret', 'new'], wrong],
      [['new', 's3cret'], GOOD],
    ] as const)
      expect(comparesOf(() => verify(hook([...secrets]), { 'x-gitea-signature': signature }, TEXT))).toEqual(
        secrets.map(() => 32),
      );
  });

  it.each(['Bearer t', 'bearer token', 'Bearer tokeN', 'x', 'Bearer token and more', 'Bearer token'])(
    'compares the digest of an authorization, whatever it is: %s',
    (authorization) => {
      expect([...new Set(comparesOf(() => verify(hook([], ['Bearer token']), { authorization }, TEXT)))]).toEqual([32]);
    },
  );

  it.each([
    ['X-Forgejo-Signature', { 'x-forgejo-signature': GOOD }],
    ['X-Gitea-Signature', { 'x-gitea-signature': GOOD }],
    ['X-Gogs-Signature', { 'x-gogs-signature': GOOD }],
    ['X-Hub-Signature-256', { 'x-hub-signature-256': `sha256=${GOOD}` }],
    [
      'all of them',
      {
        'x-forgejo-signature': GOOD,
        'x-gitea-signature': GOOD,
        'x-gogs-signature': GOOD,
        'x-hub-signature-256': `sha256=${GOOD}`,
      },
    ],
  ])('%s => signed', (_title, headers) => {
    expect(verify(hook(['s3cret']), headers, TEXT)).toBe('signed');
  });

  it.each<[string, Record<string, string | string[]>]>([
    ['no signature', {}],
    ['an empty one', { 'x-gitea-signature': '' }],
    [
      'bare prefixes, as a hook without a secret sends',
      { 'x-gitea-signature': '', 'x-hub-signature': 'sha1=', 'x-hub-signature-256': 'sha256=' },
    ],
    ['upper case', { 'x-gitea-signature': GOOD.toUpperCase() }],
    ['63 digits', { 'x-gitea-signature': GOOD.slice(1) }],
    ['65 digits', { 'x-gitea-signature': `${GOOD}0` }],
    ['one digit changed', { 'x-gitea-signature': flipped }],
    ['another secret', { 'x-gitea-signature': hmac('other') }],
    ['another text', { 'x-gitea-signature': hmac('s3cret', Buffer.from('{}')) }],
    ['spaces around it', { 'x-gitea-signature': ` ${GOOD} ` }],
    ['a prefix where none belongs', { 'x-gitea-signature': `sha256=${GOOD}` }],
    ['no prefix where one belongs', { 'x-hub-signature-256': GOOD }],
    ['an upper-case prefix', { 'x-hub-signature-256': `SHA256=${GOOD}` }],
    ['SHA-1 only', { 'x-hub-signature': `sha1=${createHmac('sha1', 's3cret').update(TEXT).digest('hex')}` }],
    ['the SHA-256 under the name of SHA-1', { 'x-hub-signature': `sha256=${GOOD}` }],
    ['the header twice, joined', { 'x-gitea-signature': `${GOOD}, ${GOOD}` }],
    ['a list', { 'x-gitea-signature': [GOOD] }],
    [
      'full-width digits',
      { 'x-gitea-signature': GOOD.replaceAll(/\d/g, (d) => String.fromCharCode(0xff10 + Number(d))) },
    ],
    ['a line break inside', { 'x-gitea-signature': `${GOOD}\n` }],
    ['base64', { 'x-gitea-signature': Buffer.from(GOOD, 'hex').toString('base64') }],
    ["the empty secret's", { 'x-gitea-signature': hmac('') }],
    ['a header of another family', { 'x-github-signature': GOOD }],
  ])('%s => not authentic', (_title, headers) => {
    expect(verify(hook(['s3cret']), headers, TEXT)).toBeNull();
  });

  it('takes any of several secrets while one is rotated, and none that was taken away', () => {
    const headers = (secret: string) => ({ 'x-gitea-signature': hmac(secret) });

    expect(verify(hook(['new', 'old']), headers('old'), TEXT)).toBe('signed');
    expect(verify(hook(['new', 'old']), headers('new'), TEXT)).toBe('signed');
    expect(verify(hook(['new']), headers('old'), TEXT)).toBeNull();
  });

  it('never takes an empty secret', () => {
    expect(verify(hook(['']), { 'x-gitea-signature': hmac('') }, TEXT)).toBeNull();
    expect(verify(hook(['', 's3cret']), { 'x-gitea-signature': hmac('') }, TEXT)).toBeNull();
    expect(verify(hook([]), { 'x-gitea-signature': hmac('') }, TEXT)).toBeNull();
  });

  it.each([
    ['the value', 'Bearer abc', 'unsigned'],
    ['another', 'Bearer abd', null],
    ['a part of it', 'Bearer ab', null],
    ['another case', 'bearer abc', null],
    ['none', undefined, null],
    ['an empty one', '', null],
  ])('a hook with an Authorization header alone, sent %s => its verdict', (_title, authorization, verdict) => {
    expect(verify(hook([], ['Bearer abc']), authorization === undefined ? {} : { authorization }, TEXT)).toBe(verdict);
  });

  it('never takes an empty Authorization value', () => {
    expect(verify(hook([], ['']), { authorization: '' }, TEXT)).toBeNull();
    expect(verify(hook([], ['']), {}, TEXT)).toBeNull();
  });

  it('asks for both where a hook names both', () => {
    const both = hook(['s3cret'], ['Bearer abc']);

    expect(verify(both, { 'x-gitea-signature': GOOD, authorization: 'Bearer abc' }, TEXT)).toBe('signed');
    expect(verify(both, { 'x-gitea-signature': GOOD }, TEXT)).toBeNull();
    expect(verify(both, { authorization: 'Bearer abc' }, TEXT)).toBeNull();
  });

  it('finds nothing signed where there is no text', () => {
    expect(verify(hook(['s3cret']), { 'x-gitea-signature': hmac('s3cret', Buffer.alloc(0)) }, null)).toBeNull();
  });

  it('takes no other signature than the one', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
        ),
        (signature) => {
          fc.pre(signature !== GOOD);
          expect(verify(hook(['s3cret']), { 'x-gitea-signature': signature }, TEXT)).toBeNull();
        },
      ),
      { numRuns: 2000 },
    );
  });
});
