import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { silentLogger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import { silentSecurityLog, type SecurityEvent } from '../core/security-log.js';
import { Metrics } from '../observability/metrics.js';
import { scrape } from './scrape.js';
import { startAdminListeners, type AdminListeners } from './admin-listeners.js';

describe('api/admin-listeners', () => {
  let listeners: AdminListeners | null = null;
  let folder: string;
  let keyFile: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fh-listeners-'));
    keyFile = join(folder, 'good.key');
    copyFileSync('test/fixtures/tls/good.key', keyFile);
    chmodSync(keyFile, 0o640);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(async () => {
    await listeners?.close();
    listeners = null;
  });
  const options = (): Parameters<typeof startAdminListeners>[0] => ({
    control: { socket: null, listen: null, token: null, tls: null },
    metricsAt: null,
    service: () => null,
    readiness: { missing: async () => [] },
    metrics: new Metrics(),
    logger: silentLogger,
    security: silentSecurityLog,
    now: () => new Date(),
  });

  it('answers metrics, liveness and readiness on the address of the metrics, for roles without a webhook endpoint', async () => {
    let missing: string[] = ['the store does not answer'];
    const metrics = new Metrics();
    listeners = await startAdminListeners({
      control: { socket: null, listen: null, token: null, tls: null },
      metricsAt: { listen: '127.0.0.1:0', token: null, maxOrgs: 100 },
      service: () => null,
      readiness: { missing: async () => missing },
      metrics,
      logger: silentLogger,
      security: silentSecurityLog,
      now: () => new Date(),
    });
    const url = listeners.places[0]?.replace('metrics ', '') ?? '';
    const ask = async (path: string): Promise<[number, string]> => {
      const answer = await fetch(url + path);
      return [answer.status, await answer.text()];
    };

    expect(await ask('/healthz')).toEqual([200, '{"status":"ok"}']);
    expect(await ask('/readyz')).toEqual([503, '{"status":"not ready","missing":["the store does not answer"]}']);
    missing = [];
    expect(await ask('/readyz')).toEqual([200, '{"status":"ready"}']);
    expect((await ask('/metrics'))[1]).toContain('forgehand_deliveries_total');
    expect((await ask('/v1/status'))[0]).toBe(404);
  });

  it('gives the metrics to holders of the token alone, and liveness to everybody', async () => {
    const token = new Secret('m'.repeat(32));
    const security: SecurityEvent[] = [];
    const record = (event: SecurityEvent): void => void security.push(event);
    listeners = await startAdminListeners({
      ...options(),
      security: { record },
      metricsAt: { listen: '127.0.0.1:0', token, maxOrgs: 100 },
    });
    const url = listeners.places[0]?.replace('metrics ', '') ?? '';
    const ask = async (path: string, authorization?: string): Promise<number> =>
      (await fetch(url + path, authorization === undefined ? {} : { headers: { authorization } })).status;

    expect(
      await Promise.all([
        ask('/metrics'),
        ask('/metrics', `Bearer ${'m'.repeat(31)}`),
        ask('/metrics', 'm'.repeat(32)),
      ]),
    ).toEqual([401, 401, 401]);
    expect(await ask('/metrics', `Bearer ${token.reveal()}`)).toBe(200);
    expect(await Promise.all([ask('/healthz'), ask('/readyz')])).toEqual([200, 200]);
    expect(security.map(({ class: name, place, reason }) => `${name} ${place} ${reason}`).sort()).toEqual([
      'authentication_failed metrics no_token',
      'authentication_failed metrics wrong_token',
      'authentication_failed metrics wrong_token',
    ]);
  });

  it('gives the metrics to nobody where the role was not given the token', async () => {
    listeners = await startAdminListeners({
      ...options(),
      metricsAt: { listen: '127.0.0.1:0', token: Secret.withheld('not here'), maxOrgs: 100 },
    });

    expect(
      (
        await fetch(`${listeners.places[0]?.replace('metrics ', '')}/metrics`, {
          headers: { authorization: 'Bearer ' },
        })
      ).status,
    ).toBe(401);
  });

  it('answers the control API by TLS where the config names a certificate, and by nothing else', async () => {
    const tls = { certFile: 'test/fixtures/tls/good.pem', keyFile };
    listeners = await startAdminListeners({
      ...options(),
      control: { socket: null, listen: '127.0.0.1:0', token: new Secret('c'.repeat(32)), tls },
    });
    const url = listeners.places[0]?.replace('control ', '') ?? '';
    const dispatcher = new Agent({ connect: { ca: readFileSync('test/fixtures/tls/ca.pem', 'utf8') } });

    expect(url).toMatch(/^https:/);
    expect((await request(`${url}/v1/status`, { dispatcher })).statusCode).toBe(421);
    await expect(fetch(url.replace('https:', 'http:'))).rejects.toThrow();
    await dispatcher.close();
  });

  it('says which file of the certificate cannot be read', async () => {
    const tls = { certFile: 'test/fixtures/tls/none.pem', keyFile };
    const start = startAdminListeners({
      ...options(),
      control: { socket: null, listen: '127.0.0.1:0', token: new Secret('c'.repeat(32)), tls },
    });

    await expect(start).rejects.toThrow(/control\.tls: test\/fixtures\/tls\/none\.pem cannot be read \(ENOENT\)/);
  });

  it('refuses a key that everybody on the machine can read', async () => {
    const open = join(folder, 'open.key');
    copyFileSync(keyFile, open);
    chmodSync(open, 0o644);
    const tls = { certFile: 'test/fixtures/tls/good.pem', keyFile: open };

    const start = startAdminListeners({
      ...options(),
      control: { socket: null, listen: '127.0.0.1:0', token: new Secret('c'.repeat(32)), tls },
    });

    await expect(start).rejects.toThrow(/open\.key can be read by everybody on this machine: run chmod o= on it/);
  });

  it('listens nowhere when one of its ports is taken', async () => {
    const listen = (server: Server, port = 0): Promise<string> =>
      new Promise((resolve, reject) =>
        server
          .once('error', reject)
          .listen(port, '127.0.0.1', () => resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`)),
      );
    const [free, taken] = [createServer(), createServer()];
    const [control, metrics] = [await listen(free), await listen(taken)];
    await new Promise((resolve) => free.close(resolve));

    const start = startAdminListeners({
      ...options(),
      control: { socket: null, listen: control, token: new Secret('c'.repeat(32)), tls: null },
      metricsAt: { listen: metrics, token: null, maxOrgs: 100 },
    });

    await expect(start).rejects.toMatchObject({ code: 'PORT_TAKEN' });
    await expect(fetch(`http://${control}/v1/status`)).rejects.toThrow('fetch failed');
    await new Promise((resolve) => taken.close(resolve));
  });

  it('tells the metrics that need no store while the store does not answer', async () => {
    const metrics = new Metrics();
    metrics.alerts.inc({ key: 'store' });
    const readGauges = () => Promise.reject(new Error('connection refused'));

    const text = await scrape({ readGauges }, metrics, silentLogger);

    expect(text).toContain('forgehand_alerts_total{key="store"} 1');
  });
});
