import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { alert, type RaisedAlert } from '../core/alerts.js';
import type { OpenAlert } from './open-alert-store.port.js';
import { OpenAlerts } from './open-alerts.js';

const AT = new Date('2026-11-24T10:00:00Z');
const LATER = new Date('2026-11-24T10:05:00Z');
const GAPS: RaisedAlert = { key: 'gaps/acme', reason: alert('gaps', { org: 'acme' }), org: null, at: AT };
const SILENT: RaisedAlert = {
  key: 'forge.silent/main',
  reason: alert('forge.silent', { forge: 'main' }),
  org: null,
  at: LATER,
};

let clock: ManualClock;
let raised: RaisedAlert[];
let others: OpenAlert[];
let resolvedHere: Map<string, Date>;
let stored: Map<string, Date>;
let closed: string[][];
let published: string[][];
let alerts: OpenAlerts;

beforeEach(() => {
  clock = new ManualClock(AT.toISOString());
  raised = [];
  others = [];
  resolvedHere = new Map();
  stored = new Map();
  closed = [];
  published = [];
  alerts = new OpenAlerts(
    { id: 'worker-1' },
    {
      raised: () => raised,
      resolvedSince: (since) => new Map([...resolvedHere].filter(([, at]) => at >= since)),
      resolvedElsewhere: (key, at) => void closed.push([key, at.toISOString()]),
    },
    {
      publish: async (process, open) => void published.push([process, ...open.map(({ key }) => key)]),
      publishedWithin: async () => others,
      resolve: async (resolved) => resolved.forEach(({ key, at }) => stored.set(key, at)),
      resolved: async (keys) => [...stored].filter(([key]) => keys.includes(key)).map(([key, at]) => ({ key, at })),
      forget: async () => undefined,
    },
    clock,
  );
});

describe('housekeeping/open-alerts', () => {
  it('writes nothing while there is nothing to tell', async () => {
    await alerts.publish();
    clock.advance(3_600_000);
    await alerts.publish();
    await alerts.withdraw();

    expect(published).toEqual([]);
  });

  it('publishes what changed at once, and what stays once a minute', async () => {
    raised = [GAPS];
    await alerts.publish();
    await alerts.publish();
    raised = [GAPS, SILENT];
    await alerts.publish();
    clock.advance(59_000);
    await alerts.publish();
    clock.advance(1_000);
    await alerts.publish();
    raised = [];
    await alerts.publish();
    clock.advance(60_000);
    await alerts.publish();

    expect(published).toEqual([
      ['worker-1', 'gaps/acme'],
      ['worker-1', 'gaps/acme', 'forge.silent/main'],
      ['worker-1', 'gaps/acme', 'forge.silent/main'],
      ['worker-1'],
    ]);
  });

  it('takes its alerts away at the end, and publishes none after', async () => {
    raised = [GAPS];
    await alerts.publish();
    await alerts.withdraw();
    raised = [SILENT];
    await alerts.publish();

    expect(published).toEqual([['worker-1', 'gaps/acme'], ['worker-1']]);
  });

  it('shows the alerts of all processes, the oldest first, each once with the time it was raised first', async () => {
    raised = [SILENT];
    const told = { code: 'gaps', message: 'of another', org: 'acme' };
    others = [
      { ...told, key: 'gaps/acme', at: AT },
      { ...told, key: 'forge.silent/main', at: new Date('2026-11-24T10:01:00Z') },
    ];

    expect((await alerts.all()).map(({ key, at }) => [key, at.toISOString()])).toEqual([
      ['gaps/acme', '2026-11-24T10:00:00.000Z'],
      ['forge.silent/main', '2026-11-24T10:01:00.000Z'],
    ]);
  });

  describe('that another process resolved', () => {
    const told = { key: 'gaps/acme', code: 'gaps', message: 'of another', org: 'acme', at: AT };
    const later = new Date(AT.getTime() + 1);

    it('are told to the process that raised them: of all that is resolved here, what another one has open', async () => {
      others = [told];
      resolvedHere = new Map([
        ['gaps/acme', later],
        ['forge.silent/main', later],
      ]);

      await alerts.settle();

      expect([...stored]).toEqual([['gaps/acme', later]]);
    });

    it('are told though they are published some seconds after they were resolved', async () => {
      resolvedHere = new Map([['gaps/acme', later]]);
      await alerts.settle();
      clock.advance(10_000);
      others = [told];
      await alerts.settle();

      expect([...stored.keys()]).toEqual(['gaps/acme']);
    });

    it('stay open where they were raised again', async () => {
      others = [{ ...told, at: later }];
      resolvedHere = new Map([['gaps/acme', later]]);

      await alerts.settle();

      expect([...stored]).toEqual([]);
      expect((await alerts.all()).map(({ key }) => key)).toEqual(['gaps/acme']);
    });

    it('are closed in the process that raised them', async () => {
      raised = [GAPS, SILENT];
      stored.set('gaps/acme', later);

      await alerts.settle();

      expect(closed).toEqual([['gaps/acme', later.toISOString()]]);
    });

    it.each(['here', 'elsewhere'])('are not shown, before that: resolved %s', async (where) => {
      others = [told];
      raised = [SILENT];
      (where === 'here' ? resolvedHere : stored).set('gaps/acme', later);

      expect((await alerts.all()).map(({ key }) => key)).toEqual(['forge.silent/main']);
    });

    it('are told at the end too', async () => {
      others = [told];
      resolvedHere = new Map([['gaps/acme', later]]);

      await alerts.withdraw();

      expect([...stored.keys()]).toEqual(['gaps/acme']);
    });
  });
});
