import { beforeEach, describe, expect, it } from '@jest/globals';
import type { KeptSession } from '../../src/api/session-store.port.js';
import type { Stores } from '../../src/store/open-stores.js';
import { aDelivery, anEvent } from '../builders/arrivals.js';
import { aRun, anIntent } from '../builders/journal.js';
import { because } from '../builders/reasons.js';
import { storeEvent } from '../builders/store-event.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const later = (hours: number): Date => new Date(NOW.getTime() + hours * 3_600_000);

const aSession = (id: string, over: Partial<KeptSession> = {}): KeptSession => ({
  id,
  kind: 'person',
  name: 'person:ann@main',
  agent: 'a browser',
  madeAt: NOW,
  seenAt: NOW,
  endsAt: later(24),
  endedAt: null,
  grant: 'grant-1',
  ...over,
});

/** Work by organization, what is put off, and what browsers are logged in by. */
export function seldomAskedSuite(open: () => Promise<Stores>): void {
  let stores: Stores;

  beforeEach(async () => {
    stores = await open();
  });

  describe('work of a line', () => {
    it('is that of one organization, without what its turn has in hand', async () => {
      const [one, two, other] = [aDelivery(), aDelivery(), aDelivery({ org: 'other' })];
      await stores.inbox.storeDeliveries([one, two, other]);

      expect(await stores.inbox.dueArrivals(9, { org: 'acme', except: [one.id] })).toEqual([two.id]);
      expect(await stores.inbox.dueArrivals(9, { org: 'other', except: [] })).toEqual([other.id]);
    });

    it('is told of each organization and topic that has some', async () => {
      await stores.inbox.storeDeliveries([aDelivery()]);
      await storeEvent(stores.inbox, anEvent({ id: 'event-1', org: 'other' }), aDelivery({ org: 'other' }));
      await stores.journal.recordDecision({}, [
        { run: aRun({ id: 'run-1' }), intents: [anIntent({ id: 'i-1', runId: 'run-1' })] },
      ]);

      const lines = await stores.recovery.dueLines();

      expect(lines.map(({ topic, org }) => `${topic} of ${org}`).sort()).toEqual([
        'arrivals of acme',
        'events of other',
        'intents of acme',
      ]);
    });

    it('has runs whose window is over', async () => {
      const gathering = (id: string, org: string) => ({
        run: aRun({ id, org, state: 'gathering' }),
        intents: [],
        gathering: { key: id, windowMs: 0 },
      });
      await stores.journal.recordDecision({}, [gathering('run-1', 'acme'), gathering('run-2', 'other')]);

      expect(await stores.journal.dueRuns(9, 'other')).toEqual(['run-2']);
      expect(await stores.journal.dueRuns(9)).toHaveLength(2);
    });
  });

  it('an intent is found by its id', async () => {
    await stores.journal.recordDecision({}, [
      { run: aRun({ id: 'run-1' }), intents: [anIntent({ id: 'i-1', runId: 'run-1' })] },
    ]);

    expect(await stores.recovery.intentOf('i-1')).toMatchObject({ id: 'i-1', runId: 'run-1' });
    expect(await stores.recovery.intentOf('nobody')).toBeNull();
  });

  it('the newest delivery of an organization that is kept tells when it was stored', async () => {
    await stores.inbox.storeDeliveries([aDelivery()]);

    expect(await stores.gaps.lastDelivery('main', 'acme')).toBeInstanceOf(Date);
    expect(await stores.gaps.lastDelivery('main', 'other')).toBeNull();
  });

  it('what is put off says why, until it goes on', async () => {
    const event = anEvent();
    await storeEvent(stores.inbox, event);
    await stores.dataSource.query(
      `INSERT INTO revisions (id, org, hash, files, state, problems, loaded_at) VALUES ('r', 'acme', 'h', '[]', 'active', '[]', now())`,
    );
    await stores.waiting.putOff('event', event.id, 'acme', because('the forge is asleep'));
    await stores.waiting.putOff('event', event.id, 'acme', because('the forge still is'));

    const reasons = async () =>
      (await stores.waiting.waiting({ eventId: event.id, limit: 9 })).map(({ reason }) => reason);
    expect(await reasons()).toEqual([because('the forge still is')]);
    await stores.waiting.goOn('event', event.id);
    expect(await reasons()).not.toContainEqual(because('the forge still is'));
  });

  describe('sessions of browsers', () => {
    it('are known by the hash of their secret, and seen until they end', async () => {
      await stores.sessions.add(aSession('s-1'), 'hash-1');
      await stores.sessions.add(aSession('s-2', { seenAt: later(1) }), 'hash-2');
      await stores.sessions.markSeen('s-1', later(2));

      expect(await stores.sessions.byTokenHash('hash-1')).toEqual(aSession('s-1', { seenAt: later(2) }));
      expect(await stores.sessions.byTokenHash('nobody')).toBeNull();
      expect([...(await stores.sessions.byTokenHashes(['hash-2', 'nobody'])).keys()]).toEqual(['hash-2']);
      expect((await stores.sessions.list()).map(({ id }) => id)).toEqual(['s-1', 's-2']);
      expect(await stores.sessions.end('s-2', later(3))).toMatchObject({ id: 's-2', endedAt: later(3) });
      expect(await stores.sessions.end('s-2', later(4))).toBeNull();
      expect((await stores.sessions.list()).map(({ id }) => id)).toEqual(['s-1']);
    });

    it('that are over are swept, and tell which grants nobody has any more', async () => {
      await stores.sessions.add(aSession('idle'), 'hash-1');
      await stores.sessions.add(aSession('old', { endsAt: later(1), seenAt: later(2), grant: 'grant-2' }), 'hash-2');
      await stores.sessions.add(aSession('here', { seenAt: later(2) }), 'hash-3');

      expect(await stores.sessions.sweep(later(2), later(1))).toEqual(['grant-2']);
      expect((await stores.sessions.list()).map(({ id }) => id)).toEqual(['here']);
    });

    it('begin by a ticket that is good once, and in time', async () => {
      await stores.sessions.addTicket('link', 'a', 'content', later(1));
      await stores.sessions.addTicket('login', 'b', 'content', later(1));

      expect(await stores.sessions.takeTicket('login', 'a', NOW)).toBeNull();
      expect(await stores.sessions.takeTicket('link', 'a', NOW)).toBe('content');
      expect(await stores.sessions.takeTicket('link', 'a', NOW)).toBeNull();
      expect(await stores.sessions.takeTicket('login', 'b', later(2))).toBeNull();
    });
  });

  it('peers that named a client are told by when they were seen last', async () => {
    await stores.untrustedProxies.saw({ address: '10.0.0.1', seenAt: NOW });
    await stores.untrustedProxies.saw({ address: '10.0.0.1', seenAt: later(2) });
    await stores.untrustedProxies.saw({ address: '10.0.0.2', seenAt: NOW });

    expect(await stores.untrustedProxies.seenSince(later(1))).toEqual([{ address: '10.0.0.1', seenAt: later(2) }]);
  });
}
