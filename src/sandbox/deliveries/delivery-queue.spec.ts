import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../core/clock.js';
import { GITEA_DELIVERIES } from './delivery-request.js';
import { DeliveryQueue, type DeliveryText, type QueuedHook } from './delivery-queue.js';

interface Seen {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** A busy machine answers within it. */
const TIMEOUT_MS = 2_000;

const seen: Seen[] = [];
let server: Server;
let base: string;
let queue: DeliveryQueue;
let respond: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  seen.length = 0;
  respond = (_request, response) => response.writeHead(202).end('ok');
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
      });
      respond(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  queue = new DeliveryQueue({ style: GITEA_DELIVERIES, clock: systemClock, timeoutMs: TIMEOUT_MS });
});

afterEach(async () => {
  await queue.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function aHook(fields: Partial<QueuedHook> = {}): QueuedHook {
  return {
    id: '1',
    url: `${base}/hook`,
    contentType: 'json',
    secret: 's',
    authorizationHeader: '',
    targetType: 'organization',
    ...fields,
  };
}

function aText(n = 1): DeliveryText {
  return { type: 'push', json: `{"n":${n}}`, action: null };
}

describe('sandbox/deliveries/delivery-queue', () => {
  it('sends a window of deliveries in another order, each once', async () => {
    queue.faults.reorder(8, 2);
    for (let n = 0; n < 16; n += 1) queue.send(aHook(), aText(n));
    await queue.settled();

    const order = seen.map(({ body }) => (JSON.parse(body) as { n: number }).n);
    const sorted = [...order].sort((a, b) => a - b);
    expect(sorted).toEqual(Array.from({ length: 16 }, (_, n) => n));
    expect(order).not.toEqual(sorted);
    expect(order.slice(0, 8).every((n) => n < 8)).toBe(true);
    expect(queue.faults.hits.reordered).toBeGreaterThan(0);
  });

  it('lets others pass a delayed one, and settles when it is sent too', async () => {
    queue.faults.delayPercent(100, [80, 80], 1);
    queue.send(aHook(), aText(1));
    queue.faults.clear();
    queue.send(aHook(), aText(2));
    await queue.settled();

    expect(seen.map(({ body }) => body)).toEqual(['{"n":2}', '{"n":1}']);
  });

  it('hands what a stop kept from going out to the next queue', async () => {
    queue.faults.delayPercent(100, [60_000, 60_000], 1);
    queue.send(aHook(), aText(7));
    await queue.close();
    expect(seen).toEqual([]);

    queue = new DeliveryQueue({ style: GITEA_DELIVERIES, clock: systemClock, timeoutMs: TIMEOUT_MS });
    const before = new DeliveryQueue({ style: GITEA_DELIVERIES, clock: systemClock });
    before.faults.delayPercent(100, [60_000, 60_000], 1);
    before.send(aHook(), aText(8));
    const saved = before.save();
    await before.close();
    queue.restore(saved);
    await queue.settled();

    expect(seen.map(({ body }) => body)).toEqual(['{"n":8}']);
  });

  it('posts the body with its headers and records the answer', async () => {
    const record = queue.send(aHook(), aText());
    await queue.settled();

    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      method: 'POST',
      path: '/hook',
      body: '{"n":1}',
      headers: {
        'x-gitea-event-type': 'push',
        'x-gitea-delivery': record.id,
        'user-agent': 'Go-http-client/1.1',
        'content-length': '7',
      },
    });
    expect(record).toMatchObject({ state: 'sent', status: 202, error: null });
  });

  it('keeps the order of a hook', async () => {
    for (let n = 1; n <= 20; n += 1) queue.send(aHook(), aText(n));
    await queue.settled();

    expect(seen.map((one) => one.body)).toEqual(Array.from({ length: 20 }, (_, i) => `{"n":${i + 1}}`));
  });

  it('sends once, whatever the receiver answers', async () => {
    respond = (_request, response) => response.writeHead(500).end();
    const record = queue.send(aHook(), aText());
    await queue.settled();

    expect(seen).toHaveLength(1);
    expect(record).toMatchObject({ state: 'failed', status: 500 });
  });

  it('gives up on a receiver that does not answer in time, and goes on', async () => {
    respond = (_request, response) => {
      if (seen.length > 1) response.writeHead(200).end();
    };
    const [first, second] = [queue.send(aHook(), aText(1)), queue.send(aHook(), aText(2))];
    await queue.settled();

    expect(first).toMatchObject({ state: 'failed', status: null, error: `no answer within ${TIMEOUT_MS} ms` });
    expect(second).toMatchObject({ state: 'sent', status: 200 });
    expect(seen).toHaveLength(2);
  });

  it('records a receiver that cuts the connection', async () => {
    respond = (request) => request.socket.destroy();
    const record = queue.send(aHook(), aText());
    await queue.settled();

    expect(seen).toHaveLength(1);
    expect(record.state).toBe('failed');
    expect(record.error).not.toBeNull();
  });

  it('follows a 301 with GET and without the body', async () => {
    respond = (request, response) =>
      request.url === '/hook' ? response.writeHead(301, { location: '/new' }).end() : response.writeHead(200).end();
    queue.send(aHook(), aText());
    await queue.settled();

    expect(seen.map((one) => [one.method, one.path, one.body])).toEqual([
      ['POST', '/hook', '{"n":1}'],
      ['GET', '/new', ''],
    ]);
  });

  it('follows a 307 with POST', async () => {
    respond = (request, response) =>
      request.url === '/hook' ? response.writeHead(307, { location: '/new' }).end() : response.writeHead(200).end();
    queue.send(aHook(), aText());
    await queue.settled();

    expect(seen.map((one) => [one.method, one.path, one.body])).toEqual([
      ['POST', '/hook', '{"n":1}'],
      ['POST', '/new', '{"n":1}'],
    ]);
  });

  it('does not send what a fault drops', async () => {
    queue.faults.dropNext(1);
    const dropped = queue.send(aHook(), aText(1));
    queue.send(aHook(), aText(2));
    await queue.settled();

    expect(seen.map((one) => one.body)).toEqual(['{"n":2}']);
    expect(dropped).toMatchObject({ state: 'dropped', status: null });
    expect(queue.history().map((one) => one.state)).toEqual(['dropped', 'sent']);
  });

  it('sends a copy under the same or a new id', async () => {
    queue.faults.duplicateNext(1, 'same');
    queue.faults.duplicateNext(1, 'new');
    const first = queue.send(aHook(), aText(1));
    const second = queue.send(aHook(), aText(2));
    await queue.settled();

    const ids = seen.map((one) => one.headers['x-gitea-delivery']);
    expect(seen.map((one) => one.body)).toEqual(['{"n":1}', '{"n":1}', '{"n":2}', '{"n":2}']);
    expect(ids.slice(0, 2)).toEqual([first.id, first.id]);
    expect(ids[2]).toBe(second.id);
    expect(ids[3]).not.toBe(second.id);
    expect(queue.history()[3]).toMatchObject({ copyOf: second.id });
  });

  it('forges the signature and the authorization of a copy', async () => {
    const record = queue.send(aHook({ authorizationHeader: 'Bearer right' }), aText());
    queue.forge(record);
    await queue.settled();

    const [real, forged] = seen;
    expect(forged?.body).toBe(real?.body);
    expect(forged?.headers['x-gitea-signature']).toMatch(/^[0-9a-f]{64}$/);
    expect(forged?.headers['x-gitea-signature']).not.toBe(real?.headers['x-gitea-signature']);
    expect(forged?.headers['authorization']).not.toBe('Bearer right');
    expect(queue.history()[1]).toMatchObject({ isForged: true, copyOf: record.id });
  });
});
