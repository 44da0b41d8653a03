import { describe, expect, it } from '@jest/globals';
import { examineProxies } from './examine-deliveries.js';

describe('housekeeping/doctor/examine-proxies', () => {
  const seen = ['10.0.0.7', '10.0.0.8'].map((address) => ({ address, seenAt: new Date(0) }));

  it('names a proxy that is missing in server.trusted_proxies, with what to write', () => {
    const [found, ...more] = examineProxies(seen, (address) => address === '10.0.0.8');

    expect(found).toMatchObject({
      check: 'proxy.untrusted',
      state: 'warning',
      said: expect.stringContaining('10.0.0.7, which is not in server.trusted_proxies'),
    });
    expect(found?.fix[0]).toContain('trusted_proxies: [10.0.0.7]');
    expect(more).toEqual([]);
  });

  it('says nothing of proxies that are trusted by now', () => {
    expect(examineProxies(seen, () => true)).toEqual([]);
  });
});
