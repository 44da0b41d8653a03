import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { alert } from '../core/alerts.js';
import { systemClock } from '../core/clock.js';
import { silentLogger } from '../core/logger.js';
import { textOf } from '../core/reason.js';
import { Secret } from '../core/secret.js';
import { Metrics } from './metrics.js';
import { AlertSender } from './alert-sender.js';

const FAILING = alert('poller.failing', { source: 'feed/acme', failures: 3 });
const MISSING = alert('gaps', { org: 'acme' });

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

    alerts.raise('poller.failing/feed/acme', FAILING);
    alerts.raise('poller.failing/feed/acme', FAILING);
    await alerts.flush();
    alerts.resolve('poller.failing/feed/acme');
    alerts.raise('poller.failing/feed/acme', FAILING);
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
      data: {
        key: 'poller.failing/feed/acme',
        code: 'poller.failing',
        params: { source: 'feed/acme', failures: 3 },
        message: 'the poller feed/acme failed 3 times in a row',
        facts: {},
      },
    });
  });

  it('does not wait at a stop for a receiver that does not answer', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`;
    const errors: unknown[] = [];
    const alerts = new AlertSender(
      { ...silentLogger, error: (facts, name) => void errors.push([name, (facts as { message?: string }).message]) },
      new Metrics(),
      systemClock,
      {
        url,
        secret: new Secret('shared'),
      },
    );
    const asked = new Promise((resolve) => server.once('request', resolve));

    alerts.raise('gaps/x', MISSING);
    await asked;
    await alerts.close(0);
    server.closeAllConnections();
    server.close();

    expect(errors).toEqual([
      ['alert.raised', textOf(MISSING)],
      ['alert.not-sent', undefined],
    ]);
  });

  it('goes on when nobody receives', async () => {
    const errors: unknown[] = [];
    const alerts = new AlertSender(
      { ...silentLogger, error: (facts, name) => void errors.push([name, (facts as { message?: string }).message]) },
      new Metrics(),
      systemClock,
      {
        url: 'http://127.0.0.1:9/',
        secret: new Secret('canary'),
      },
    );

    alerts.raise('gaps/x', MISSING);
    await alerts.flush();

    expect(errors).toEqual([
      ['alert.raised', textOf(MISSING)],
      ['alert.not-sent', undefined],
    ]);
  });
});
