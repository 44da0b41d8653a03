import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { FakeMessenger } from '../../test/fakes/fake-messenger.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import type { AlertTarget } from '../config/app-config.js';
import { alert } from '../core/alerts.js';
import { systemClock } from '../core/clock.js';
import { silentLogger } from '../core/logger.js';
import { textOf } from '../core/reason.js';
import { Secret } from '../core/secret.js';
import { Metrics } from './metrics.js';
import { AlertSender } from './alert-sender.js';

const messenger = new FakeMessenger();
const webhookAt = (url: string): AlertTarget => ({
  format: 'webhook',
  to: new Secret(url),
  credential: new Secret('shared'),
  server: null,
});
const FAILING = alert('poller.failing', { source: 'feed/acme', org: 'acme', failures: 3 });
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
      webhookAt(target.url),
      messenger,
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
    const alerts = new AlertSender(silentLogger, new Metrics(), clock, null, messenger);
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

  it('knows whose an alert is from its words, or from the facts beside them', () => {
    const alerts = new AlertSender(silentLogger, new Metrics(), new ManualClock(), null, messenger);
    const job = alert('housekeeping', { job: 'mirrors.audit', first: 'a mirror is late' });
    alerts.raise('gaps/acme', MISSING);
    alerts.raise('housekeeping/mirrors.audit/main/beta', job, { org: 'beta' });
    alerts.raise('housekeeping/mirrors.audit/main/', job);

    expect(alerts.raised().map(({ org }) => org)).toEqual(['acme', 'beta', null]);
  });

  it('keeps what was resolved, raised here or not, until it is raised again', () => {
    const clock = new ManualClock('2026-11-24T10:00:00Z');
    const alerts = new AlertSender(silentLogger, new Metrics(), clock, null, messenger);
    alerts.resolve('gaps/acme');
    clock.advance(1_000);
    const since = clock.now();
    alerts.resolve('gaps/b');
    alerts.resolve('gaps/c');
    alerts.raise('gaps/c', MISSING);

    expect([...alerts.resolvedSince(since)]).toEqual([['gaps/b', since]]);
  });

  it('does not keep more of them than a process can need', () => {
    const alerts = new AlertSender(silentLogger, new Metrics(), systemClock, null, messenger);
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
      webhookAt(url),
      messenger,
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

  it('follows no redirect', async () => {
    const trap = await receiver();
    const server = createServer((_request, reply) => reply.writeHead(307, { location: trap.url }).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`;
    const errors: unknown[] = [];
    const alerts = new AlertSender(
      { ...silentLogger, error: (facts, name) => void errors.push([name, (facts as { status?: number }).status]) },
      new Metrics(),
      systemClock,
      webhookAt(url),
      messenger,
    );

    alerts.raise('gaps/x', MISSING);
    await alerts.flush();
    server.close();
    trap.close();

    expect(errors.at(-1)).toEqual(['alert.refused', 307]);
    expect(trap.received).toEqual([]);
  });

  it.each(['slack', 'matrix', 'mail'] as const)(
    'sends its sentence and its key to %s, once, and goes on when it fails',
    async (format) => {
      const service = new FakeMessenger();
      const logged: unknown[] = [];
      const logger = { ...silentLogger, error: (facts: object, name: string) => void logged.push([name, facts]) };
      const to = new Secret('https://chat.example.org/hooks/canary');
      const alerts = new AlertSender(logger, new Metrics(), systemClock, { ...webhookAt(''), format, to }, service);
      const busy = alert('rules.broken', { org: 'a @channel https://evil.example' });

      alerts.raise('gaps/x', MISSING);
      alerts.raise('gaps/x', MISSING);
      alerts.raise('rules.broken/a', busy);
      await alerts.flush();
      for (const [kind, key] of [
        ['unknown', 'gaps/y'],
        ['refused', 'gaps/z'],
      ] as const) {
        service.failNext(kind);
        alerts.raise(key, MISSING);
        await alerts.flush();
      }

      const [first, second] = service.taken;
      expect(service.taken.map((one) => one.format)).toEqual([format, format]);
      expect(first?.text).toBe(`Forgehand: ${textOf(MISSING)}\n(gaps/x)`);
      expect(second?.text).not.toMatch(/@channel|https:\/\/evil/);
      expect(first?.key).not.toBe(second?.key);
      expect(JSON.stringify(logged)).not.toContain('canary');
      expect(logged.map((one) => (one as [string])[0]).filter((name) => name !== 'alert.raised')).toEqual([
        'alert.not-sent',
        'alert.refused',
      ]);
    },
  );

  it('goes on when nobody receives', async () => {
    const errors: unknown[] = [];
    const alerts = new AlertSender(
      { ...silentLogger, error: (facts, name) => void errors.push([name, (facts as { message?: string }).message]) },
      new Metrics(),
      systemClock,
      webhookAt('http://127.0.0.1:9/'),
      messenger,
    );

    alerts.raise('gaps/x', MISSING);
    await alerts.flush();

    expect(errors).toEqual([
      ['alert.raised', textOf(MISSING)],
      ['alert.not-sent', undefined],
    ]);
  });

  describe('of many organizations', () => {
    const broken = (org: string) => [`rules.broken/${org}` as const, alert('rules.broken', { org })] as const;
    const names = (from: number, to: number): string[] =>
      Array.from({ length: to - from + 1 }, (_, n) => `org-${from + n}`);

    function start() {
      const lines: string[] = [];
      const log = (facts: unknown, message: string): void => {
        const { alert: key, message: text = '' } = facts as { alert: string; message?: string };
        if (message !== 'alert.joined') lines.push(`${message} ${key}${text && ` ${text}`}`);
      };
      const metrics = new Metrics();
      const alerts = new AlertSender({ ...silentLogger, error: log, info: log }, metrics, systemClock, null, messenger);
      const raise = (...orgs: string[]): void => orgs.forEach((org) => alerts.raise(...broken(org)));
      const resolve = (...orgs: string[]): void => orgs.forEach((org) => alerts.resolve(`rules.broken/${org}`));
      return { alerts, lines, metrics, raise, resolve };
    }

    it('tells the same alert of a thousand eleven times, the last time for all of them', async () => {
      const { alerts, lines, metrics, raise } = start();

      raise(...names(1, 1_000));
      alerts.raise('rules.broken/org-500', alert('rules.broken', { org: 'org-500' }));

      expect(lines.slice(0, 10)).toEqual(names(1, 10).map((org) => expect.stringContaining(`rules.broken/${org} `)));
      expect(lines.slice(10)).toEqual([
        'alert.raised rules.broken/* the rule files of org-11 have errors; the last good revision stays active; the same in 10 more organizations: org-1, org-2, org-3 and 7 more',
      ]);
      expect(await metrics.text()).toContain('forgehand_alerts_total{key="rules.broken"} 11');
      expect(alerts.raised()).toHaveLength(1_000);
    });

    it('sends its receiver one message for those beyond ten', async () => {
      const target = await receiver();
      const to = webhookAt(target.url);
      const alerts = new AlertSender(silentLogger, new Metrics(), systemClock, to, messenger);

      for (const org of names(1, 30)) alerts.raise(...broken(org));
      await alerts.flush();
      target.close();

      const bodies = target.received.map(
        ({ body }) => (JSON.parse(body) as { data: { key: string; code: string } }).data,
      );
      expect(bodies).toHaveLength(11);
      expect(bodies.filter(({ key }) => key === 'rules.broken/*')).toMatchObject([
        { code: 'rules.broken', facts: { organizations: 11, first: 'rules.broken/org-11' } },
      ]);
    });

    it('ends the shared one with the last of those that it alone told of, and begins anew then', () => {
      const { lines, raise, resolve } = start();
      raise(...names(1, 13));
      lines.length = 0;

      resolve(...names(1, 10), 'org-11', 'org-12');
      expect(lines).toEqual(names(1, 10).map((org) => `alert.resolved rules.broken/${org}`));
      // One that comes meanwhile is not told by itself beside the shared one.
      raise('org-14');
      resolve('org-13', 'org-14');
      raise('org-15');

      expect(lines.slice(10)).toEqual([
        'alert.resolved rules.broken/*',
        expect.stringContaining('alert.raised rules.broken/org-15'),
      ]);
    });

    it('counts organizations, not alerts, each code for itself, and what names no organization never', () => {
      const { alerts, lines } = start();

      for (const n of names(1, 20))
        alerts.raise(`rule.held/acme/${n}`, alert('rule.held', { org: 'acme', rule: n, because: MISSING }));
      for (const org of names(1, 10)) alerts.raise(...broken(org));
      for (const n of names(1, 20)) alerts.raise(`forge.silent/${n}`, alert('forge.silent', { forge: n }));

      expect(lines).toHaveLength(50);
    });

    it('takes the organization of the facts where the alert has none in its sentence', () => {
      const { alerts, lines } = start();

      for (const org of names(1, 20))
        alerts.raise(`security.tenant_mismatch/${org}`, alert('security.tenant_mismatch'), { org });

      expect(lines).toHaveLength(11);
    });
  });
});
