import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import { InMemoryInboxStore } from '../../../test/fakes/in-memory-inbox-store.js';
import { silentLogger } from '../../core/logger.js';
import { Secret } from '../../core/secret.js';
import { misfitOf, replayNameOf } from '../../events/normalize-delivery.js';
import type { ServerLimits } from './server-limits.js';
import { DEFAULT_SERVER_LIMITS, capConnections, fastifyLimits } from './server-limits.js';
import { DEFAULT_WEBHOOK_LIMITS, registerWebhookRoute } from './webhook-route.js';
import { given } from '../../../test/builders/given.js';

const SHORT: ServerLimits = { ...DEFAULT_SERVER_LIMITS, headersTimeoutMs: 100, requestTimeoutMs: 200 };
const HEAD = 'POST /webhooks/acme HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\n';

let app: FastifyInstance | null = null;
let sockets: Socket[] = [];

async function listen(limits: ServerLimits, maxPerAddress = 100): Promise<number> {
  app = fastify(fastifyLimits(limits));
  capConnections(app.server, maxPerAddress);
  await registerWebhookRoute(app, {
    hooks: [{ id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret('s')], authorizations: [] }],
    inbox: new InMemoryInboxStore(),
    queue: { announce: async () => {} },
    misfitOf,
    replayNameOf,
    logger: silentLogger,
    limits: { ...DEFAULT_WEBHOOK_LIMITS, maxBodyBytes: 1000 },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Send, and give all that came back until the server closed. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = await dial(port);
  let answer = '';
  socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

describe('ingest/webhooks/server-limits', () => {
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await app?.close();
    app = null;
  });

  it('closes on headers that never end', async () => {
    expect(await exchange(await listen(SHORT), HEAD)).toMatch(/^HTTP\/1.1 408/);
  });

  it('closes on a body that never ends', async () => {
    expect(await exchange(await listen(SHORT), `${HEAD}Content-Length: 500\r\n\r\n{"a":`)).toMatch(/^HTTP\/1.1 408/);
  });

  it.each([
    ['headers beyond 16 KB', `${HEAD}X-Filler: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['a length that is no number', `${HEAD}Content-Length: abc\r\nConnection: close\r\n\r\n{}`, 400],
    ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}`, 400],
    ['a length beside chunks', `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`, 400],
    ['a chunk size that is none', `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`, 400],
    ['chunks that grow beyond the limit', `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n800\r\n${'x'.repeat(0x800)}\r\n0\r\n\r\n`, 413],
    ['a length beyond the limit', `${HEAD}Content-Length: 1001\r\nConnection: close\r\n\r\n${'x'.repeat(1001)}`, 413],
    ['an unsigned body in chunks', `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, 401],
  ])('%s => refused', async (_title, text, status) => {
    expect(await exchange(await listen(DEFAULT_SERVER_LIMITS), text)).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
  });

  it('gives one address so many connections and no more, until one ends', async () => {
    const port = await listen(DEFAULT_SERVER_LIMITS, 2);
    const [first] = [await dial(port), await dial(port)];

    const third = await dial(port);
    await once(third, 'close');
    given(first).destroy();
    while (given(app).server.listening && (await countOf(given(app))) > 1) await new Promise((resolve) => setImmediate(resolve));
    const fourth = await exchange(port, `${HEAD}Content-Length: 2\r\nConnection: close\r\n\r\n{}`);

    expect(fourth).toMatch(/^HTTP\/1.1 401/);
  });
});

function countOf(instance: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => instance.server.getConnections((error, count) => (error ? reject(error) : resolve(count))));
}
