import crypto, { createHmac } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { decideAll } from '../../test/builders/decide-all.js';
import { DEFAULT_WEBHOOK_LIMITS, makeWebhookApp, type WebhookLimits } from '../../test/builders/webhook-app.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { SAMPLE_BODIES, sampleBody } from '../../test/builders/sample-bodies.js';
import { silentLogger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';
import { DEFAULT_WRITER_LIMITS } from '../pipeline/receive.js';
import type { Hook } from './receive-delivery.js';
import { given } from '../../test/builders/given.js';

const HOOKS: Hook[] = [
  { id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret('new'), new Secret('old')], authorizations: [] },
  { id: 'second', org: 'Acme', forge: 'main', secrets: [new Secret('second')], authorizations: [] },
  { id: 'open', org: 'acme', forge: 'main', secrets: [], authorizations: [new Secret('Bearer shared')] },
  { id: 'other', org: 'globex', forge: 'main', secrets: [new Secret('other')], authorizations: [] },
];
const SECRET_OF = new Map([
  ['acme', 'new'],
  ['second', 'second'],
  ['other', 'other'],
]);

interface Post {
  hook?: string;
  secret?: string;
  eventType?: string;
  event?: string;
  body?: object | string | Buffer;
  headers?: Record<string, string>;
}

let app: NestFastifyApplication | null = null;

interface Options {
  inbox?: Pick<InboxStore, 'storeDeliveries'>;
  limits?: Partial<WebhookLimits>;
  /** Hooks whose backlog is full. */
  full?: readonly string[];
  prepare?: (fastify: FastifyInstance) => unknown;
}

async function start(options: Options = {}) {
  const inbox = new InMemoryInboxStore();
  const rung: string[][] = [];
  const counted: string[] = [];
  app = await makeWebhookApp({
    hooks: HOOKS,
    inbox: options.inbox ?? inbox,
    logger: silentLogger,
    queue: { ring: (topic, org) => void rung.push([topic, org]) },
    limits: { ...DEFAULT_WEBHOOK_LIMITS, ...options.limits },
    undecided: { isFull: (hook) => options.full?.includes(hook) === true, stored: () => {} },
    counted: ({ hook, answer }) => void counted.push(`${hook}:${answer}`),
  });
  // An injected request has no socket that could be paused.
  const instance = app.getHttpAdapter().getInstance();
  instance.addHook(
    'onRequest',
    async ({ raw }) => void Object.assign(raw.socket, { pause: () => {}, resume: () => {}, destroy: () => {} }),
  );
  options.prepare?.(instance);
  await app.init();
  const post = async ({
    hook = 'acme',
    secret = SECRET_OF.get(hook) ?? '',
    eventType = 'push',
    event = eventType,
    body = sampleBody(eventType),
    headers = {},
  }: Post = {}) => {
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body, null, 2);
    const response = await given(app).inject({
      method: 'POST',
      url: `/webhooks/${hook}`,
      payload,
      headers: {
        'content-type': 'application/json',
        'x-gitea-event': event,
        'x-gitea-event-type': eventType,
        'x-gitea-delivery': 'an-id',
        'x-gitea-signature': createHmac('sha256', secret).update(payload).digest('hex'),
        ...headers,
      },
    });
    return { status: response.statusCode, answer: response.json<Record<string, unknown>>(), headers: response.headers };
  };
  return { post, inbox, rung, counted };
}

/** How often what it does makes a hash, by the function that makes it. */
async function hashesOf(work: () => Promise<unknown>): Promise<Record<'createHmac' | 'createHash', number>> {
  const spies = {
    createHmac: jest.spyOn(crypto, 'createHmac'),
    createHash: jest.spyOn(crypto, 'createHash'),
  };
  syncBuiltinESMExports();
  try {
    await work();
    return { createHmac: spies.createHmac.mock.calls.length, createHash: spies.createHash.mock.calls.length };
  } finally {
    for (const spy of Object.values(spies)) spy.mockRestore();
    syncBuiltinESMExports();
  }
}

describe('webhooks/webhook.controller', () => {
  afterEach(async () => {
    await app?.close();
    app = null;
  });

  it('stores a delivery byte for byte before it acknowledges it, and rings for it', async () => {
    const { post, inbox, rung, counted } = await start();
    const body = JSON.stringify(sampleBody('issues')).replace('Crash', '\\u003cb\\u003e ünïcode 🚀');

    const { status, answer } = await post({ eventType: 'issues', body });

    expect(status).toBe(202);
    const stored = await inbox.get(answer.id as string);
    expect(stored).toMatchObject({
      kind: 'delivery',
      forge: 'main',
      org: 'acme',
      hook: 'acme',
      eventType: 'issues',
      event: 'issues',
      deliveryId: 'an-id',
      targetType: null,
      contentType: 'json',
      verdict: 'signed',
      text: body,
      body: Buffer.from(body),
      state: 'stored',
    });
    expect(rung).toEqual([['arrivals', 'acme']]);
    expect(counted).toEqual(['acme:stored']);
  });

  it('keeps neither signature nor Authorization', async () => {
    const { post, inbox } = await start();

    const { answer } = await post({
      hook: 'open',
      headers: { authorization: 'Bearer shared', 'x-gitea-signature': 'f'.repeat(64) },
    });

    const kept = JSON.stringify({ ...(await inbox.get(answer.id as string)), id: 'made by chance' });
    expect(kept).not.toContain('Bearer');
    expect(kept).not.toContain('ffff');
    expect(await inbox.get(answer.id as string)).toMatchObject({ verdict: 'unsigned' });
  });

  it.each<[string, Post]>([
    ['the same delivery', {}],
    ['under another id', { headers: { 'x-gitea-delivery': 'another' } }],
    ['through another hook of the organization', { hook: 'second' }],
    ['through a hook without a secret', { hook: 'open', headers: { authorization: 'Bearer shared' } }],
    ['signed with the older secret', { secret: 'old' }],
    [
      'as a form',
      {
        body: `payload=${encodeURIComponent(JSON.stringify(sampleBody('push'), null, 2))}`,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-gitea-signature': createHmac('sha256', 'new')
            .update(JSON.stringify(sampleBody('push'), null, 2))
            .digest('hex'),
        },
      },
    ],
  ])('acknowledges %s again, and makes one event of both', async (_title, again) => {
    const { post, inbox, rung } = await start();

    const first = await post();
    const second = await post(again);
    await decideAll(inbox);

    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.answer.id).not.toBe(first.answer.id);
    expect(rung).toHaveLength(2);
    expect(await inbox.list({ limit: 10 })).toMatchObject([{ id: first.answer.id, repeats: 1 }]);
    expect(inbox.allEvents()).toHaveLength(1);
  });

  it('keeps a text once that nobody knows, whatever made-up event type it comes under: the name is not signed', async () => {
    const { post, inbox } = await start();
    const body = { repository: sampleBody('push').repository, sender: sampleBody('push').sender };

    await post({ eventType: 'new_one', body });
    await post({ eventType: 'new_two', body });
    await decideAll(inbox);

    expect(await inbox.list({ limit: 10 })).toMatchObject([{ code: 'unknown_kind', repeats: 1 }]);
  });

  it('routes on the precise name of the event', async () => {
    const { post, inbox } = await start();

    const { status, answer } = await post({ eventType: 'pull_request_comment', event: 'issue_comment' });

    expect(status).toBe(202);
    expect(await inbox.get(answer.id as string)).toMatchObject({
      eventType: 'pull_request_comment',
      event: 'issue_comment',
    });
  });

  it('sets a body under the name of another event aside', async () => {
    const { post, inbox } = await start();
    const types = Object.keys(SAMPLE_BODIES);

    for (const eventType of types)
      for (const other of types.filter((type) => type !== eventType)) {
        const { status } = await post({ eventType, body: sampleBody(other) });
        expect(`${eventType} <- ${other}: ${status}`).toBe(`${eventType} <- ${other}: 202`);
      }
    await decideAll(inbox);

    // One of each text: the name of the event stands outside the signature.
    const kept = await inbox.list({ limit: 1_000 });
    expect(kept.map(({ state, code }) => `${state} ${code}`)).toEqual(types.map(() => 'quarantined misfit'));
    expect(inbox.allEvents()).toEqual([]);
  });

  const big = (bytes: number): string => JSON.stringify({ ...sampleBody('push'), filler: 'x'.repeat(bytes) });

  it.each<[string, Post, number, string]>([
    ['another secret', { secret: 'wrong' }, 401, 'not_authentic'],
    ['a secret of another hook', { secret: 'second' }, 401, 'not_authentic'],
    ['no signature', { headers: { 'x-gitea-signature': '' } }, 401, 'not_authentic'],
    [
      'the secret in the Authorization header',
      { headers: { 'x-gitea-signature': '', authorization: 'new' } },
      401,
      'not_authentic',
    ],
    ['malformed JSON that nobody signed', { body: '{', secret: 'wrong' }, 401, 'not_authentic'],
    ['a hook nobody made', { hook: 'nobody' }, 401, 'not_authentic'],
    ['a hook with a path in it', { hook: '..%2Facme' }, 401, 'not_authentic'],
    ["a hook named like an object's own", { hook: '__proto__' }, 401, 'not_authentic'],
    ['five megabytes and more', { body: big(5 * 1024 * 1024) }, 413, 'too_large'],
    [
      'a gzip bomb',
      { body: gzipSync(Buffer.alloc(1_000_000)), headers: { 'content-encoding': 'gzip' } },
      415,
      'unsupported_media_type',
    ],
    ['brotli', { headers: { 'content-encoding': 'br' } }, 415, 'unsupported_media_type'],
    ['a Content-Type that is none', { headers: { 'content-type': 'json' } }, 415, 'unsupported_media_type'],
    ['XML', { headers: { 'content-type': 'application/xml' } }, 415, 'unsupported_media_type'],
    [
      'a form of files',
      { headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      415,
      'unsupported_media_type',
    ],
  ])('%s => refused, and nothing stored', async (_title, delivery, status, error) => {
    const { post, inbox, rung, counted } = await start();

    const response = await post(delivery);

    expect(response).toMatchObject({ status, answer: { error, message: expect.any(String) } });
    expect(await inbox.list({ limit: 10 })).toEqual([]);
    expect(rung).toEqual([]);
    // What outsiders are not told, the operator is.
    expect(counted).toEqual([
      expect.stringMatching(new RegExp(error === 'not_authentic' ? `:(${error}|no_such_hook)$` : `:${error}$`)),
    ]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each<[string, Post, string]>([
    ['malformed JSON', { body: '{"a":' }, 'not_json'],
    ['nothing', { body: '' }, 'not_json'],
    ['a text', { body: '"acme"' }, 'not_json'],
    ['a list', { body: '[]' }, 'not_json'],
    ['null', { body: 'null' }, 'not_json'],
    ['text after the JSON', { body: `${JSON.stringify(sampleBody('push'))}{}` }, 'not_json'],
    ['a byte order mark', { body: `\uFEFF${JSON.stringify(sampleBody('push'))}` }, 'not_json'],
    ['a NUL', { body: JSON.stringify(sampleBody('push')).replace('main', '\u0000') }, 'not_json'],
    [
      'broken UTF-8',
      { body: Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0]), Buffer.from('"}')]) },
      'not_utf8',
    ],
    ['a body nested too deep', { body: `${'['.repeat(100)}${']'.repeat(100)}` }, 'too_deep'],
    ['too many values', { body: `[${'0,'.repeat(100_001)}0]` }, 'too_many_values'],
    [
      'a __proto__ key',
      { body: JSON.stringify(sampleBody('push')).replace('{', '{"__proto__":{"polluted":1},') },
      'key_proto',
    ],
    ['a key twice', { body: JSON.stringify(sampleBody('push')).replace('{', '{"ref":"refs/heads/x",') }, 'key_twice'],
    ['no event name', { headers: { 'x-gitea-event': '', 'x-gitea-event-type': '' } }, 'no_event_type'],
    ['an event name that is none', { headers: { 'x-gitea-event-type': '<b>' } }, 'no_event_type'],
    ['no organization', { body: { ref: 'refs/heads/main' } }, 'misfit'],
    ['a body that is no push', { body: { repository: sampleBody('push').repository } }, 'misfit'],
    ['a body of another organization', { hook: 'other' }, 'tenant_other_owner'],
    [
      'a form without a payload',
      {
        hook: 'open',
        body: 'a=1',
        headers: { authorization: 'Bearer shared', 'content-type': 'application/x-www-form-urlencoded' },
      },
      'no_payload',
    ],
  ])('%s of a verified sender => acknowledged and set aside, with its bytes', async (_title, delivery, code) => {
    const { post, inbox, counted } = await start();
    const alerts: string[] = [];
    const setAside: unknown[] = [];

    const { status, answer } = await post(delivery);
    await decideAll(inbox, {
      alerts: { raise: (key) => void alerts.push(key) },
      setAside: (what) => void setAside.push(what),
    });

    const { hook = 'acme' } = delivery;
    const org = hook === 'other' ? 'globex' : 'acme';
    expect([status, counted]).toEqual([202, [`${hook}:stored`]]);
    expect(await inbox.list({ limit: 10 })).toMatchObject([
      { id: answer.id, state: 'quarantined', code, eventIds: [], reason: expect.any(String) },
    ]);
    const sent = delivery.body ?? sampleBody('push');
    const bytes = typeof sent === 'string' || Buffer.isBuffer(sent) ? sent : JSON.stringify(sent, null, 2);
    expect(await inbox.get(String(answer.id))).toMatchObject({ body: Buffer.from(bytes) });
    expect(inbox.allEvents()).toEqual([]);
    expect(setAside).toEqual([{ org, hook, code }]);
    // The security log has an alert of its own for what names another organization.
    expect(alerts).toEqual(code.startsWith('tenant_') ? [] : [`delivery.quarantined/${org}/${hook}/${code}`]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('takes a body just below the limit', async () => {
    const { post } = await start();

    expect((await post({ body: big(5 * 1024 * 1024 - 2000) })).status).toBe(202);
  });

  it.each<[string, Post]>([
    [
      'a body of another organization',
      {
        body: {
          ...sampleBody('push'),
          repository: { ...(sampleBody('push').repository as object), owner: { login: 'globex' } },
        },
      },
    ],
    ['a body for a hook of another organization', { hook: 'other' }],
  ])('stores %s for the worker, which binds it to the organization of the hook', async (_title, delivery) => {
    const { post, inbox } = await start();

    const { status, answer } = await post(delivery);

    expect(status).toBe(202);
    expect(await inbox.get(answer.id as string)).toMatchObject({
      state: 'stored',
      org: delivery.hook === undefined ? 'acme' : 'globex',
    });
  });

  it('stores what it does not know, so that a person sees it', async () => {
    const { post, inbox } = await start();

    const { status, answer } = await post({
      eventType: 'sponsorship',
      body: { action: 'created', repository: sampleBody('push').repository },
    });

    expect(status).toBe(202);
    expect(await inbox.get(answer.id as string)).toMatchObject({ eventType: 'sponsorship' });
  });

  it('answers 503 with Retry-After when the store fails, and counts it', async () => {
    const { post, counted } = await start({
      inbox: {
        storeDeliveries: async () => {
          throw new Error('connection refused');
        },
      },
    });

    expect(await post()).toMatchObject({
      status: 503,
      answer: { error: 'cannot_store' },
      headers: { 'retry-after': '5' },
    });
    expect(counted).toEqual(['acme:cannot_store']);
  });

  it('sheds with 429 while too many wait', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const inbox = new InMemoryInboxStore();
    const storeDeliveries = jest.fn<InboxStore['storeDeliveries']>(
      async (batch) => (await held, inbox.storeDeliveries(batch)),
    );
    const { post } = await start({
      inbox: { storeDeliveries },
      limits: { writer: { ...DEFAULT_WRITER_LIMITS, maxWaiting: 1 } },
    });
    const nth = (n: number): Post => ({ body: { ...sampleBody('push'), n } });

    const first = post(nth(1));
    while (storeDeliveries.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = post(nth(2));
    let shed = await post(nth(3));
    while (shed.status !== 429) shed = await post(nth(3));
    release();

    expect(shed).toMatchObject({ answer: { error: 'overloaded' }, headers: { 'retry-after': '5' } });
    expect([(await first).status, (await second).status].sort()).toEqual([202, 202]);
  });

  it('says that a backlog is full to a proved sender alone: to others the hook is as unknown as any', async () => {
    const { post } = await start({ full: ['acme'] });
    const strip = ({ status, answer, headers: { date: _, ...headers } }: Awaited<ReturnType<typeof post>>) => ({
      status,
      answer,
      headers,
    });
    const none = { 'x-gitea-signature': '' };
    const wrong = { ...none, authorization: 'Bearer guess' };

    const proved = await post();
    const [guessed, guessedNowhere] = [await post({ secret: 'guess' }), await post({ hook: 'nowhere', secret: 'x' })];
    const [bare, bareNowhere] = [await post({ headers: none }), await post({ hook: 'nowhere', headers: none })];

    expect(proved).toMatchObject({ status: 429, answer: { error: 'backlog_full' }, headers: { 'retry-after': '60' } });
    expect(guessed.status).toBe(401);
    expect(strip(guessed)).toEqual(strip(guessedNowhere));
    expect(strip(bare)).toEqual(strip(bareNowhere));
    expect(strip(await post({ hook: 'open', headers: wrong }))).toEqual(
      strip(await post({ hook: 'nowhere', headers: wrong })),
    );
    expect((await post({ hook: 'other' })).status).toBe(202);
  });

  it('shares commits among many at once, each with its own answer', async () => {
    const inbox = new InMemoryInboxStore();
    const storeDeliveries = jest.fn<InboxStore['storeDeliveries']>(async (batch) => {
      await new Promise((resolve) => setImmediate(resolve));
      return inbox.storeDeliveries(batch);
    });
    const { post } = await start({ inbox: { storeDeliveries } });

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => post({ body: { ...sampleBody('push'), n } })),
    );

    expect(answers.every(({ status }) => status === 202)).toBe(true);
    expect(new Set(answers.map(({ answer }) => answer.id)).size).toBe(100);
    expect(storeDeliveries.mock.calls.length).toBeLessThan(100);
  });

  it.each(['/elsewhere', '/webhooks/', '/webhooks/acme/more'])(
    'reads no body for %s, a path that is none',
    async (url) => {
      const { counted } = await start();

      const response = await given(app).inject({
        method: 'POST',
        url,
        payload: '{',
        headers: { 'content-type': 'application/json' },
      });

      expect([response.statusCode, response.json()]).toEqual([
        404,
        { error: 'not_found', message: 'no such path: deliveries go to POST /webhooks/{hook}' },
      ]);
      expect(counted).toEqual([':not_found']);
    },
  );

  it('hands the unread body on to the other routes of the instance', async () => {
    await start({
      prepare: (fastify) =>
        fastify.post('/other', async (request) => JSON.parse(await text(request.body as Readable)) as unknown),
    });

    const response = await given(app).inject({ method: 'POST', url: '/other', payload: { a: 1 } });

    expect(response.json()).toEqual({ a: 1 });
  });

  it.each([
    ['a wrong signature', {}],
    ['a wrong signature and a wrong Authorization header', { authorization: 'Bearer wrong' }],
    [
      'several wrong signatures',
      { 'x-forgejo-signature': 'a'.repeat(64), 'x-hub-signature-256': `sha256=${'b'.repeat(64)}` },
    ],
    ['no signature', { 'x-gitea-signature': '' }],
    ['no signature and a wrong Authorization header', { 'x-gitea-signature': '', authorization: 'Bearer wrong' }],
  ])('hashes as often for a hook of any number of secrets as for one that does not exist: %s', async (_, headers) => {
    const { post } = await start();
    const signature = 'c'.repeat(64);
    const of = async (hook: string) => {
      let answer: unknown;
      const hashes = await hashesOf(async () => {
        answer = (await post({ hook, headers: { 'x-gitea-signature': signature, ...headers } })).answer;
      });
      return { hashes, answer };
    };

    const unknown = await of('nobody');
    for (const { id } of HOOKS) expect([id, await of(id)]).toEqual([id, unknown]);
  });
});
