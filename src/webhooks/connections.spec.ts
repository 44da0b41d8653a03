import { aConfig } from '../../test/builders/a-config.js';
import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { silentLogger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import { AcceptFirst, DEFAULT_SERVER_LIMITS, ServerSockets, type ServerLimits } from '../platform/limited-server.js';
import { NoteUntrustedProxies } from './connections.js';
import { given } from '../../test/builders/given.js';
import { DEFAULT_WEBHOOK_LIMITS, makeWebhookApp } from '../../test/builders/webhook-app.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';

const SHORT: ServerLimits = { ...DEFAULT_SERVER_LIMITS, headersTimeoutMs: 100, requestTimeoutMs: 200 };
const HEAD = 'POST /webhooks/acme HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\n';
const SIGNED = `${HEAD}X-Gitea-Signature: ${'5f'.repeat(32)}\r\n`;

let app: NestFastifyApplication | null = null;
let sockets: Socket[] = [];

async function listen(limits: ServerLimits, maxPerAddress = 100): Promise<number> {
  const deps = {
    hooks: [{ id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret('s')], authorizations: [] }],
    inbox: new InMemoryInboxStore(),
    queue: { ring: () => undefined },
    logger: silentLogger,
    limits: { ...DEFAULT_WEBHOOK_LIMITS, maxBodyBytes: 1000 },
    connections: { maxConnections: 1000, maxConnectionsPerAddress: maxPerAddress },
  };
  app = await makeWebhookApp(deps, { limits });
  await app.init();
  return (app.getHttpServer().address() as AddressInfo).port;
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

describe('webhooks/accept-first', () => {
  const round = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

  it('accepts all that are at the door before it reads a request of one', async () => {
    const order: string[] = [];
    const server = createServer((_request, response) => {
      order.push('request');
      response.end();
    });
    server.on('connection', () => order.push('connection'));
    new AcceptFirst(server);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const clients = Array.from({ length: 10 }, () => connect(port, '127.0.0.1'));

    await Promise.all(
      clients.map(async (client) => {
        client.write('GET / HTTP/1.1\r\nHost: bot\r\n\r\n');
        await once(client, 'data');
      }),
    );

    expect(order).toEqual([...Array(10).fill('connection'), ...Array(10).fill('request')]);
    for (const client of clients) client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('reads after a tenth of a second, a few in each round, also while connections go on coming', async () => {
    let now = 0;
    const server = new EventEmitter();
    new AcceptFirst(server as Server, () => now);
    const read: number[] = [];
    const comes = (n: number): void => void server.emit('connection', { resume: () => read.push(n) });

    comes(0);
    for (now = 10; now < 100; now += 10) {
      await round();
      comes(now);
    }
    expect(read).toEqual([]);
    await round();
    expect(read).toEqual([0, 10, 20, 30, 40, 50, 60, 70]);
    comes(now);
    await round();

    expect(read).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  });
});

describe('webhooks/server-limits', () => {
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
    expect(await exchange(await listen(SHORT), `${SIGNED}Content-Length: 500\r\n\r\n{"a":`)).toMatch(/^HTTP\/1.1 408/);
  });

  it.each([
    ['headers beyond 16 KB', `${HEAD}X-Filler: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['a length that is no number', `${HEAD}Content-Length: abc\r\nConnection: close\r\n\r\n{}`, 400],
    ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}`, 400],
    [
      'a length beside chunks',
      `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a chunk size that is none',
      `${SIGNED}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'chunks that grow beyond the limit',
      `${SIGNED}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n800\r\n${'x'.repeat(0x800)}\r\n0\r\n\r\n`,
      413,
    ],
    ['a length beyond the limit', `${HEAD}Content-Length: 1001\r\nConnection: close\r\n\r\n${'x'.repeat(1001)}`, 413],
    [
      'an unsigned body that is long, before it is read',
      `${HEAD}Content-Length: 1000\r\nConnection: close\r\n\r\n`,
      401,
    ],
    [
      'a chunked body without a signature, before it is read',
      `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
      401,
    ],
    [
      'an unsigned body in chunks',
      `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      401,
    ],
  ])('%s => refused', async (_title, text, status) => {
    expect(await exchange(await listen(DEFAULT_SERVER_LIMITS), text)).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
  });

  it('takes in a new connection of an address that has too many, and ends its oldest one without a request', async () => {
    const port = await listen(DEFAULT_SERVER_LIMITS, 2);
    const [first, second] = [await dial(port), await dial(port)];
    const isFirstEnded = once(first, 'close');

    const third = await exchange(port, `${HEAD}Content-Length: 2\r\nConnection: close\r\n\r\n{}`);
    await isFirstEnded;

    expect(third).toMatch(/^HTTP\/1.1 401/);
    expect(second.destroyed).toBe(false);
  });
});

/** Sockets without a network, in the hands of the limits of a server. */
function aServer(limits = { maxConnections: 6, maxConnectionsPerAddress: 3 }) {
  const server = new EventEmitter();
  const sockets = new ServerSockets(server as unknown as Server, limits);
  const dialFrom = (remoteAddress: string): Socket => {
    const socket = Object.assign(new PassThrough(), { remoteAddress }) as unknown as Socket;
    server.emit('connection', socket);
    return socket;
  };
  return { sockets, dialFrom };
}

describe('webhooks/server-limits: which connection ends where there are too many', () => {
  const endedOf = (all: readonly Socket[]): number[] => all.flatMap((socket, n) => (socket.destroyed ? [n] : []));

  it('the oldest without a request, before one that receives a body', () => {
    const { sockets, dialFrom } = aServer();
    const all = [dialFrom('10.0.0.1'), dialFrom('10.0.0.1'), dialFrom('10.0.0.1')];
    sockets.receiving(given(all[0]), () => 1_000_000);

    dialFrom('10.0.0.1');

    expect(endedOf(all)).toEqual([1]);
  });

  it('else the one whose body takes longest', () => {
    const { sockets, dialFrom } = aServer();
    const all = [dialFrom('10.0.0.1'), dialFrom('10.0.0.1'), dialFrom('10.0.0.1')];
    all.forEach((socket, n) => sockets.receiving(socket, () => [10, 30, 20][n] ?? 0));

    dialFrom('10.0.0.1');

    expect(endedOf(all)).toEqual([1]);
  });

  it('one of a proved sender only where all are, and then the one that rested longest, never one with a request under way', () => {
    const { sockets, dialFrom } = aServer();
    const all = [dialFrom('10.0.0.1'), dialFrom('10.0.0.1'), dialFrom('10.0.0.1')];
    for (const socket of all) {
      sockets.receiving(socket, () => 1);
      sockets.proved(socket);
    }
    sockets.answered(given(all[2]));
    sockets.answered(given(all[1]));

    const stranger = dialFrom('10.0.0.1');
    expect(endedOf(all)).toEqual([2]);
    dialFrom('10.0.0.1');

    expect(endedOf(all)).toEqual([2]);
    expect(stranger.destroyed).toBe(true);
  });

  it('the new one, where the others all have a request of a proved sender under way', () => {
    const { sockets, dialFrom } = aServer();
    const all = [dialFrom('10.0.0.1'), dialFrom('10.0.0.1'), dialFrom('10.0.0.1')];
    for (const socket of all) {
      sockets.receiving(socket, () => 1);
      sockets.proved(socket);
    }

    expect(dialFrom('10.0.0.1').destroyed).toBe(true);
    expect(endedOf(all)).toEqual([]);
  });

  it('in all: one of the address that has most; addresses of one IPv6 network are one', () => {
    const { dialFrom } = aServer({ maxConnections: 4, maxConnectionsPerAddress: 100 });
    const all = [dialFrom('10.0.0.1'), dialFrom('2001:db8::1'), dialFrom('2001:db8::2'), dialFrom('2001:db8::3')];

    dialFrom('10.0.0.2');

    expect(endedOf(all)).toEqual([1]);
  });
});

function noting() {
  let now = 0;
  const kept: string[] = [];
  const store = { saw: async ({ address }: { address: string }) => void kept.push(address) };
  const clock = { now: () => new Date(now), monotonicMs: () => now };
  return {
    notes: new NoteUntrustedProxies(aConfig({ server: { trustedProxies: [] } }), store, clock, silentLogger),
    kept,
    pass: (ms: number) => void (now += ms),
  };
}

describe('webhooks/note-untrusted-proxies', () => {
  it('keeps a proxy once, and again after an hour', () => {
    const { notes, kept, pass } = noting();

    for (const ms of [0, 1_000, 3_600_000]) {
      pass(ms);
      notes.note('10.0.0.7');
    }

    expect(kept).toEqual(['10.0.0.7', '10.0.0.7']);
  });

  it('keeps sixteen and no more', () => {
    const { notes, kept } = noting();

    for (let n = 0; n < 100; n += 1) notes.note(`10.0.0.${n}`);

    expect(kept).toHaveLength(16);
  });
});
