import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AuditKey } from '../../src/core/audit-chain.js';
import { checkPage, type AuditPage } from '../../src/housekeeping/audit/audit-check.js';
import type { Stores } from '../../src/store/open-stores.js';
import { aDelivery, anEvent } from '../builders/arrivals.js';
import { aRun, anIntent } from '../builders/journal.js';
import { storeEvent } from '../builders/store-event.js';
import { newId } from '../../src/core/ids.js';
import { nextMillisecond } from '../services/until.js';

const KEY: AuditKey = { id: 'k', hash: (text) => createHmac('sha256', 'a secret').update(text).digest('hex') };

type Begun = Parameters<Stores['acts']['begin']>[0];
const anAct = (n: number, over: Partial<Begun> = {}): Begun => ({
  id: `act-${n}`,
  by: 'person:ann@main',
  byKind: 'person',
  operation: 'resolve',
  org: 'acme',
  about: { id: 'an intent', exists: true },
  reason: 'seen at the forge',
  ...over,
});

/** Acts of people: recorded before they are carried out, chained when they have ended. */
export function actStoreSuite(open: () => Promise<Stores>): void {
  let stores: Stores;

  beforeEach(async () => {
    stores = await open();
  });

  const sql = (text: string): Promise<unknown> => stores.dataSource.query(text);
  const seal = async (youngMs = 0) => {
    await nextMillisecond();
    const chains: Array<{ org: string; added: number; head: { n: number; link: string } }> = [];
    for (const org of await stores.audit.unsealed()) {
      const grown = await stores.audit.seal(org, 100, youngMs, KEY);
      if (grown) chains.push({ org, ...grown });
    }
    return chains;
  };
  const check = (org = 'acme', now = new Date()): Promise<AuditPage> => checkPage(stores.audit, KEY, org, 0, 100, now);

  async function done(n: number, over: Partial<Begun> = {}, outcome = 'done'): Promise<void> {
    await stores.acts.begin(anAct(n, over));
    await stores.acts.end(`act-${n}`, outcome);
  }

  describe('acts', () => {
    it('tell who did what, why and with what outcome', async () => {
      await stores.acts.begin(anAct(1));
      const [begun] = await stores.acts.list({ limit: 10 });
      await stores.acts.end('act-1', 'NOT_FOUND');
      const [ended] = await stores.acts.list({ limit: 10 });

      expect(begun).toEqual({ ...anAct(1), at: expect.any(Date), outcome: null, endedAt: null });
      expect(ended).toEqual({ ...begun, outcome: 'NOT_FOUND', endedAt: expect.any(Date) });
    });

    it('end once', async () => {
      await done(1);
      const before = await stores.acts.list({ limit: 10 });
      await stores.acts.end('act-1', 'INTERNAL');
      await stores.acts.end('act-2', 'done');

      expect(await stores.acts.list({ limit: 10 })).toEqual(before);
    });

    it('are listed newest first, page by page, of one organization or of all', async () => {
      for (let n = 1; n <= 5; n += 1) await done(n, { org: n % 2 === 0 ? 'other' : 'acme' });
      await done(6, { org: null, about: {}, reason: null });
      const ids = async (filter: Parameters<Stores['acts']['list']>[0]): Promise<string[]> =>
        (await stores.acts.list(filter)).map(({ id }) => id);

      expect(await ids({ limit: 10 })).toEqual(['act-6', 'act-5', 'act-4', 'act-3', 'act-2', 'act-1']);
      expect(await ids({ limit: 2, before: 'act-5' })).toEqual(['act-4', 'act-3']);
      expect(await ids({ limit: 2, org: 'acme' })).toEqual(['act-5', 'act-3']);
      expect(await ids({ limit: 2, org: 'acme', before: 'act-3' })).toEqual(['act-1']);
      expect(await ids({ limit: 2, before: 'act-unknown' })).toEqual([]);
      expect((await stores.acts.list({ limit: 1 }))[0]).toMatchObject({ org: null, about: {}, reason: null });
    });

    it('know the organization of a whole id', async () => {
      const event = anEvent({ id: 'event-1', org: 'other' });
      await storeEvent(stores.inbox, event, aDelivery({ org: 'other' }));
      const run = aRun({ id: 'run-1', org: 'other', cause: { kind: 'event', eventId: event.id } });
      const intents = [anIntent({ id: 'intent-1', runId: 'run-1', org: 'other' })];
      await stores.journal.recordDecision({ eventId: event.id }, [{ run, intents }]);

      for (const id of ['event-1', 'run-1', 'intent-1']) expect(await stores.acts.orgOf(id)).toBe('other');
      expect(await stores.acts.orgOf('run')).toBeNull();
    });
  });

  describe('acts in the audit chain', () => {
    it('join it when they have ended, each in the chain of its organization', async () => {
      await done(1);
      await done(2, { org: null });
      await stores.acts.begin(anAct(3));

      expect(await seal(3_600_000)).toEqual([]);
      expect((await seal()).map(({ org, added }) => [org, added])).toEqual([
        ['', 1],
        ['acme', 1],
      ]);
      expect(await seal()).toEqual([]);
      expect(await check()).toMatchObject({ checked: 1, head: { n: 1 }, broken: null, again: [] });
      expect(await check('')).toMatchObject({ checked: 1, head: { n: 1 }, broken: null });
    });

    it('stand among the finished runs', async () => {
      await stores.journal.recordDecision({}, [{ run: aRun({ id: 'idle', state: 'not-fired' }), intents: [] }]);
      await done(1);
      await seal();
      await done(2);
      await seal();

      expect(await check()).toMatchObject({ checked: 3, head: { n: 3 }, broken: null });
    });

    it('join it without an outcome after a day, and keep that', async () => {
      await stores.acts.begin(anAct(1));
      await sql(`UPDATE acts SET at = at - interval '25 hours'`);
      await seal();
      await stores.acts.end('act-1', 'done');

      expect(await check()).toMatchObject({ checked: 1, broken: null });
      expect((await stores.acts.list({ limit: 1 }))[0]).toMatchObject({ outcome: null, endedAt: null });
    });

    it.each([
      ...['by', 'by_kind', 'operation', 'about', 'reason', 'outcome'].map((column) => [
        `UPDATE acts SET ${column} = ${column} || 'x' WHERE id = 'act-2'`,
        'the act was changed',
      ]),
      [`UPDATE acts SET reason = NULL WHERE id = 'act-2'`, 'the act was changed'],
      [`UPDATE acts SET at = at - interval '1 microsecond' WHERE id = 'act-2'`, 'the act was changed'],
      [`UPDATE acts SET ended_at = ended_at + interval '1 microsecond' WHERE id = 'act-2'`, 'the act was changed'],
      [`UPDATE acts SET sealed_n = NULL WHERE id = 'act-2'`, 'the act does not say any more that it is sealed'],
      [`UPDATE acts SET sealed_n = 1 WHERE id = 'act-2'`, 'the act does not say any more that it is sealed'],
      [`UPDATE acts SET org = 'other' WHERE id = 'act-2'`, 'the act is gone'],
      [`DELETE FROM acts WHERE id = 'act-2'`, 'the act is gone'],
    ])('show that somebody did %s', async (change, why) => {
      for (let n = 1; n <= 3; n += 1) await done(n);
      await seal();
      expect((await check()).broken).toBeNull();

      await sql(change);

      expect((await check()).broken).toEqual({ n: 2, runId: 'act-2', why });
    });

    it('show that somebody took the newest link away', async () => {
      for (let n = 1; n <= 3; n += 1) await done(n);
      await seal();
      await sql('DELETE FROM audit_links WHERE n = 3');

      expect((await check()).broken).toEqual({ n: 3, runId: 'act-3', why: 'the link of this act is not there' });
    });
  });

  describe('acts that are old', () => {
    const DAYS = 400;
    const then = new Date(Date.now() + (DAYS + 1) * 86_400_000);
    const deleteActs = (limit: number, now = then): Promise<number> =>
      stores.audit.deleteActs(limit, { now, days: DAYS, key: KEY });

    it('are deleted, the oldest first, and the chain says so', async () => {
      const ids = Array.from({ length: 4 }, () => `act-${newId()}`);
      for (const id of ids) {
        await stores.acts.begin(anAct(1, { id }));
        await stores.acts.end(id, 'done');
      }
      expect(await deleteActs(10)).toBe(0);
      await seal();
      await stores.acts.begin(anAct(1, { id: `act-${newId()}` }));

      expect(await deleteActs(10, new Date(Date.now() + (DAYS - 1) * 86_400_000))).toBe(0);
      expect(await deleteActs(3)).toBe(3);
      expect((await stores.acts.list({ limit: 10 })).map(({ id }) => id).slice(1)).toEqual(ids.slice(3));
      expect(await deleteActs(3)).toBe(1);
      expect(await deleteActs(3)).toBe(0);

      expect(await check('acme', then)).toMatchObject({
        checked: 6,
        broken: null,
        deleted: [
          { from: 1, to: 3, links: 3, days: DAYS },
          { from: 4, to: 4, links: 1, days: DAYS },
        ],
      });
    });
  });

  describe('acts under an erasure', () => {
    it('are found by who gave the reason and by what it holds, a page after the other', async () => {
      await stores.operators.add(
        {
          id: 'o1',
          name: 'annie',
          login: 'Ann',
          scopes: ['read', 'operate'],
          madeBy: 'socket:root',
          madeAt: new Date(),
          expiresAt: new Date('2099-01-01'),
          revokedBy: null,
          revokedAt: null,
        },
        'a'.repeat(64),
      );
      await done(1);
      await done(2, { by: 'annie', byKind: 'operator' });
      await done(3, { by: 'person:ann@elsewhere' });
      await done(4, { by: 'bob', byKind: 'operator', reason: 'Ann@example.org asked for it' });
      await done(5, { reason: null });

      const { rows, last } = await stores.erasure.acts('main', 'ann', null, ['ann']);

      expect(last).toBeNull();
      expect(rows).toEqual([
        { id: 'act-1', reason: 'seen at the forge', isOwn: true },
        { id: 'act-2', reason: 'seen at the forge', isOwn: true },
        { id: 'act-4', reason: 'Ann@example.org asked for it', isOwn: false },
      ]);
    });

    it('are sealed once more when a reason was taken out', async () => {
      await done(1);
      await done(2);
      await seal();

      await stores.erasure.write({ acts: [{ id: 'act-1', reason: '[erased]' }] }, KEY);

      expect(await check()).toMatchObject({ checked: 3, broken: null, again: ['act-1'] });
      await sql(`UPDATE acts SET reason = 'seen at the forge' WHERE id = 'act-1'`);
      expect((await check()).broken).toMatchObject({ n: 3, runId: 'act-1' });
    });
  });
}
