import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../core/clock.js';
import { silentLogger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import { Metrics } from './metrics.js';
import { AlertSender } from './alert-sender.js';

async function receiver() {
  const received: Array<{ headers: Record<string, unknown>; body: string }> = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`,
    close: () => server.close(),
  };
}

describe('observability/alert-sender', () => {
  it('sends one signed message per key until it is resolved', async () => {
    const target = await receiver();
    const errors: string[] = [];
    const alerts = new AlertSender(
      { ...silentLogger, error: (_facts, message) => void errors.push(message) },
      new Metrics(),
      systemClock,
      {
        url: target.url,
        secret: new Secret('shared'),
      },
    );

    alerts.raise('poller.failing/feed/acme', 'a poller does not get through');
    alerts.raise('poller.failing/feed/acme', 'a poller does not get through');
    await alerts.flush();
    alerts.resolve('poller.failing/feed/acme');
    alerts.raise('poller.failing/feed/acme', 'a poller does not get through');
    await alerts.flush();
    target.close();

    expect(errors).toHaveLength(2);
    expect(target.received).toHaveLength(2);
    const { headers, body } = target.received[0] ?? { headers: {}, body: '' };
    const expected = createHmac('sha256', 'shared')
      .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`)
      .digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
    expect(JSON.parse(body)).toMatchObject({
      type: 'forgehand.alert',
      data: { key: 'poller.failing/feed/acme', code: 'poller.failing' },
    });
  });

  it('does not wait at a stop for a receiver that does not answer', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`;
    const errors: string[] = [];
    const alerts = new AlertSender(
      { ...silentLogger, error: (_facts, message) => void errors.push(message) },
      new Metrics(),
      systemClock,
      {
        url,
        secret: new Secret('shared'),
      },
    );
    const asked = new Promise((resolve) => server.once('request', resolve));

    alerts.raise('x', 'something is wrong');
    await asked;
    await alerts.close(0);
    server.closeAllConnections();
    server.close();

    expect(errors).toEqual(['something is wrong', 'alert could not be sent']);
  });

  it('goes on when nobody receives', async () => {
    const errors: string[] = [];
    const alerts = new AlertSender(
      { ...silentLogger, error: (_facts, message) => void errors.push(message) },
      new Metrics(),
      systemClock,
      {
        url: 'http://127.0.0.1:9/',
        secret: new Secret('canary'),
      },
    );

    alerts.raise('x', 'something is wrong');
    await alerts.flush();

    expect(errors).toEqual(['something is wrong', 'alert could not be sent']);
  });
});
