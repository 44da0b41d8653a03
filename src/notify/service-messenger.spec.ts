import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { startScriptedServer, type ScriptedServer } from '../../test/fakes/scripted-server.js';
import { ServiceError } from '../core/errors.js';
import type { Message } from '../core/message.js';
import { Secret } from '../core/secret.js';
import { ServiceMessenger } from './service-messenger.js';

const clock = new ManualClock();
const messenger = new ServiceMessenger(clock);

describe('notify/service-messenger', () => {
  let chat: ScriptedServer;
  let trap: ScriptedServer;
  let answer: (reply: ServerResponse) => void;

  beforeAll(async () => {
    trap = await startScriptedServer((_request, reply) => reply.end('ok'));
    chat = await startScriptedServer((_request, reply) => answer(reply));
  });
  beforeEach(() => {
    chat.seen.length = 0;
    answer = (reply) => reply.end('ok');
  });
  afterAll(() => Promise.all([chat.close(), trap.close()]));

  const message = (over: Partial<Message> = {}): Message => ({
    format: 'slack',
    to: new Secret(`${chat.url}/hooks/canary-1a`),
    credential: null,
    server: null,
    text: 'main is red',
    key: 'ab'.repeat(32),
    facts: { org: 'acme' },
    ...over,
  });
  const failure = async (
    over: Partial<Message> = {},
    addresses: readonly string[] | null = null,
  ): Promise<ServiceError> => {
    const error: unknown = await messenger.send(message(over), { addresses }).catch((thrown: unknown) => thrown);
    if (!(error instanceof ServiceError)) throw new Error(`no failure: ${String(error)}`);
    expect(JSON.stringify([error.message, error.reason, error.facts, error.context])).not.toContain('canary');
    return error;
  };

  it('posts what Slack and its kin take, with the three signs of Slack escaped', async () => {
    await messenger.send(message({ text: '<!channel> a & b' }), { addresses: null });

    expect(chat.seen).toMatchObject([
      { method: 'POST', url: '/hooks/canary-1a', headers: { 'content-type': 'application/json' } },
    ]);
    expect(JSON.parse(chat.seen[0]?.body ?? '')).toMatchObject({
      text: '&lt;!channel&gt; a &amp; b',
      link_names: false,
    });
  });

  it('signs a webhook by the scheme of Standard Webhooks, with the id of the message', async () => {
    await messenger.send(message({ format: 'webhook', credential: new Secret('key') }), { addresses: null });

    const { headers, body } = chat.seen[0] ?? { headers: {}, body: '' };
    const id = `msg_${'ab'.repeat(16)}`;
    const timestamp = String(Math.floor(clock.now().getTime() / 1000));
    const signature = createHmac('sha256', 'key').update(`${id}.${timestamp}.${body}`).digest('base64');
    expect(headers).toMatchObject({
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    });
    expect(JSON.parse(body)).toMatchObject({ type: 'forgehand.message', data: { text: 'main is red', org: 'acme' } });
  });

  it('puts a notice into a room of Matrix, by a transaction id that is the same in each try', async () => {
    const room = new Secret(`${chat.url}/_matrix/client/v3/rooms/!room:example.org/`);
    const sent = message({ format: 'matrix', to: room, credential: new Secret('token-7'), text: 'a <b> & c' });
    await messenger.send(sent, { addresses: null });
    await messenger.send(sent, { addresses: null });

    const path = `/_matrix/client/v3/rooms/!room:example.org/send/m.room.message/${'ab'.repeat(32)}`;
    expect(chat.seen.map(({ method, url }) => [method, url])).toEqual([
      ['PUT', path],
      ['PUT', path],
    ]);
    expect(chat.seen[0]?.headers).toMatchObject({ authorization: 'Bearer token-7' });
    expect(JSON.parse(chat.seen[0]?.body ?? '')).toEqual({ msgtype: 'm.notice', body: 'a <b> & c', 'm.mentions': {} });
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect (%i), and refuses', async (status) => {
    answer = (reply) => void reply.writeHead(status, { location: `${trap.url}/x` }).end();

    expect(await failure()).toMatchObject({ kind: 'refused', reason: { code: 'service.redirect' } });
    expect([chat.seen.length, trap.connections()]).toEqual([1, 0]);
  });

  it.each<[number, string, string, string | null]>([
    [400, 'invalid_payload', 'refused', 'invalid_payload'],
    [403, 'no, canary-1a', 'refused', null],
    [404, '<html>', 'refused', null],
    [403, '{"errcode":"M_FORBIDDEN","error":"canary-1a"}', 'refused', 'M_FORBIDDEN'],
  ])('takes %i (%s) for a refusal, and keeps a code alone', async (status, body, kind, word) => {
    answer = (reply) => void reply.writeHead(status).end(body);

    const error = await failure();

    expect([error.kind, error.reason?.params['word']]).toEqual([kind, word]);
  });

  it.each<[string, Record<string, string>, string, number | undefined]>([
    ['in a header', { 'retry-after': '7' }, '', 7],
    ['in the body, as Matrix does', {}, '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2500}', 2.5],
    ['without saying how long', {}, '', undefined],
  ])('waits as long as the service asks %s', async (_, headers, body, retryAfterS) => {
    answer = (reply) => void reply.writeHead(429, headers).end(body);

    const { kind, facts } = await failure();

    expect([kind, facts.retryAfterS]).toEqual(['rate-limited', retryAfterS]);
  });

  it.each<[string, (reply: ServerResponse) => void]>([
    ['a fault of the service', (reply) => void reply.writeHead(502).end()],
    ['a connection that ends', (reply) => void reply.destroy()],
  ])('does not know what came of %s', async (_, script) => {
    answer = script;

    expect((await failure()).kind).toBe('unknown');
    expect(chat.seen.length).toBe(1);
  });

  it('takes a status of success for an answer, whatever follows it', async () => {
    answer = (reply) => {
      reply.writeHead(200, { 'content-length': '1000' });
      reply.write('o');
      setImmediate(() => reply.destroy());
    };

    await expect(messenger.send(message(), { addresses: null })).resolves.toBe(0);
  });

  it.each<[string, string, readonly string[] | null]>([
    ['a port where nobody listens', 'http://127.0.0.1:1/x', null],
    ['a name without an address', 'http://chat.example.org/x', []],
    ['a certificate that nobody vouches for', 'https', null],
  ])('knows that nothing was sent to %s', async (_, url, addresses) => {
    const to = new Secret(url === 'https' ? chat.url.replace('http:', 'https:') + '/canary' : url);

    expect((await failure({ to }, addresses)).kind).toBe('not-sent');
    expect(chat.seen).toEqual([]);
  });

  it('connects to the address that was looked at, whatever the name leads to', async () => {
    const to = new Secret(`http://chat.example.org:${chat.port}/hooks/x`);

    await messenger.send(message({ to }), { addresses: ['127.0.0.1'] });

    expect(chat.seen).toMatchObject([{ headers: { host: `chat.example.org:${chat.port}` } }]);
  });

  it('sends nothing where what comes before the call says no, or the process stops', async () => {
    const no = new Error('no');
    const stopped = AbortSignal.abort();

    await expect(messenger.send(message(), { addresses: null, beforeSend: () => Promise.reject(no) })).rejects.toBe(no);
    await expect(messenger.send(message(), { addresses: null, signal: stopped })).rejects.toMatchObject({
      kind: 'not-sent',
      facts: { detail: 'stopped' },
    });
    expect(chat.seen).toEqual([]);
  });
});
