import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
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

  it('closes what another process resolved, unless it was raised later', () => {
    const clock = new ManualClock('2026-11-24T10:00:00Z');
    const alerts = new AlertSender(silentLogger, new Metrics(), clock, null);
    const before = clock.now();
    alerts.raise('gaps/acme', MISSING);
    clock.advance(1_000);
    alerts.raise('gaps/other', MISSING);

    alerts.resolvedElsewhere('gaps/acme', before);
    expect(alerts.raised()).toHaveLength(2);
    for (const key of ['gaps/acme', 'gaps/other', 'gaps/none']) alerts.resolvedElsewhere(key, clock.now());

    expect(alerts.raised().map(({ key }) => key)).toEqual(['gaps/other']);
    expect([...alerts.resolvedSince(before)]).toEqual([]);
  });

  it('keeps what was resolved, raised here or not, until it is raised again', () => {
    const clock = new ManualClock('2026-11-24T10:00:00Z');
    const alerts = new AlertSender(silentLogger, new Metrics(), clock, null);
    alerts.resolve('gaps/acme');
    clock.advance(1_000);
    const since = clock.now();
    alerts.resolve('gaps/b');
    alerts.resolve('gaps/c');
    alerts.raise('gaps/c', MISSING);

    expect([...alerts.resolvedSince(since)]).toEqual([['gaps/b', since]]);
  });

  it('does not keep more of them than a process can need', () => {
    const alerts = new AlertSender(silentLogger, new Metrics(), systemClock, null);
    for (let n = 0; n < 10_005; n += 1) alerts.resolve(`intent.dead/acme/r${n}`);

    const kept = alerts.resolvedSince(new Date(0));
    expect([kept.size, kept.has('intent.dead/acme/r4'), kept.has('intent.dead/acme/r5')]).toEqual([
      10_000,
      false,
      true,
    ]);
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
