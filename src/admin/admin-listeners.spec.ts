import { afterEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../core/logger.js';
import { silentSecurityLog } from '../core/security-log.js';
import { Metrics } from '../observability/metrics.js';
import { scrape } from './scrape.js';
import { startAdminListeners, type AdminListeners } from './admin-listeners.js';

describe('admin/admin-listeners', () => {
  let listeners: AdminListeners | null = null;
  afterEach(() => listeners?.close());

  it('answers metrics, liveness and readiness on the address of the metrics, for roles without a webhook endpoint', async () => {
    let missing: string[] = ['the store does not answer'];
    const metrics = new Metrics();
    listeners = await startAdminListeners({
      control: { socket: null, listen: null, token: null, tls: null },
      metricsAt: { listen: '127.0.0.1:0', token: null },
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

  it('tells the metrics that need no store while the store does not answer', async () => {
    const metrics = new Metrics();
    metrics.alerts.inc({ key: 'store' });
    const status = () => Promise.reject(new Error('connection refused'));

    const text = await scrape({ status }, metrics, silentLogger);

    expect(text).toContain('forgehand_alerts_total{key="store"} 1');
  });
});
