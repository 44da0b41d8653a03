import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AuditKey } from '../../src/core/audit-chain.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { firstIdAt, newId } from '../../src/core/ids.js';
import type { NewIntent } from '../../src/core/run.js';
import { checkPage } from '../../src/housekeeping/audit/audit-check.js';
import type { Retention, HistoryKind, OldRows } from '../../src/housekeeping/retention-store.port.js';
import type { ErasableRun, ErasurePage } from '../../src/housekeeping/erase/erasure-store.port.js';
import type { StatedObject } from '../../src/pipeline/inbox-store.port.js';
import type { Stores } from '../../src/store/open-stores.js';
import { aDelivery, anEntry, anEvent } from '../builders/arrivals.js';
import { decideBy } from '../builders/decide-all.js';
import { given } from '../builders/given.js';
import { anIntent, aRun, claimOne } from '../builders/journal.js';
import { because } from '../builders/reasons.js';

const KEY: AuditKey = { id: 'k', hash: (text) => createHmac('sha256', 'a secret').update(text).digest('hex') };
const DAYS = 400;
const DAY_MS = 86_400_000;
const LEASE_MS = 5_000;
const TABLES = ['arrivals', 'events', 'arrival_events', 'runs', 'intents', 'attempts', 'echoes', 'known_entries'];

/** Whole events are deleted when all of them has ended, and what must be remembered of them stays. */
export function deletedHistorySuite(open: () => Promise<Stores>): void {
  describe('history that ended long ago', () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await open();
    });

    /** All that a test made is so old by then. */
    const then = (days = DAYS + 10): Retention => ({
      now: new Date(Date.now() + days * DAY_MS),
      days: DAYS,
      key: KEY,
    });
    const sql = (text: string, values: readonly unknown[] = []): Promise<Array<Record<string, unknown>>> =>
      stores.dataSource.query(text, [...values]);
    const counts = async (): Promise<Record<string, unknown>> =>
      given(
        (await sql(`SELECT ${TABLES.map((name) => `(SELECT count(*)::int FROM ${name}) AS ${name}`).join(', ')}`))[0],
      );

    interface Told {
      readonly event?: Partial<ForgeEvent>;
      readonly intent?: Partial<NewIntent>;
      readonly object?: StatedObject;
      readonly ends?: 'done' | 'unchanged';
    }

    /** An event that a delivery told, with a run whose one intent was sent and has ended. */
    async function happened({ event: over = {}, intent = {}, object, ends = 'done' }: Told = {}): Promise<{
      event: ForgeEvent;
      runId: string;
      intentId: string;
    }> {
      const event = anEvent({ id: newId(), factKey: newId(), ...over });
      const delivery = aDelivery();
      await stores.inbox.storeDeliveries([delivery]);
      await decideBy(stores.inbox, delivery.id, async (tx) => {
        tx.insertEvent(event, undefined, object ?? null);
        tx.join(event.id);
      });
      const [runId, intentId] = [newId(), newId()];
      const orderKey = `main/repository/${event.repo?.id ?? '7'}`;
      const wanted = anIntent({
        id: intentId,
        runId,
        effectKey: 'label bug',
        orderKey,
        object: 'label bug',
        ...intent,
      });
      const run = aRun({ id: runId, cause: { kind: 'event', eventId: event.id } });
      await stores.journal.recordDecision({ eventId: event.id }, [{ run, intents: [wanted] }]);
      const epoch = given(await claimOne(stores.journal, intentId, 'me', LEASE_MS)).epoch;
      if (ends === 'done')
        await stores.journal.markSent(intentId, epoch, { id: newId(), operation: 'createLabel', requestHash: 'h' });
      await stores.journal.move({
        intentId,
        epoch,
        from: ['claimed', 'sent'],
        to: ends,
        reason: because('made'),
        result: { detail: { id: '5' } },
      });
      return { event, runId, intentId };
    }

    /** What housekeeping does by then. */
    async function settled(): Promise<void> {
      for (const org of await stores.audit.unsealed()) await stores.audit.seal(org, 1_000, 0, KEY);
      await stores.inbox.archive(new Date('2030-01-01'), 1_000);
    }

    async function pruned(age = then(), limit = 100): Promise<Record<HistoryKind, number>> {
      const deleted = { events: 0, runs: 0, arrivals: 0 };
      const before = new Date(age.now.getTime() - age.days * DAY_MS);
      for (const kind of ['events', 'runs', 'arrivals'] as const)
        for (let after: string | null = ''; after !== null;) {
          const page: OldRows = await stores.retention.oldRows(kind, after, limit, before);
          for (const ids of page.ids.values()) deleted[kind] += await stores.retention.deleteEnded(kind, ids, age);
          after = page.last;
        }
      return deleted;
    }

    it('goes as a whole, batch by batch, and the audit chain says so and holds', async () => {
      const effects = ['one', 'two', 'three', 'one', 'two'];
      for (const effectKey of effects) await happened({ intent: { effectKey } });
      await settled();

      expect(await pruned(then(DAYS - 2))).toEqual({ events: 0, runs: 0, arrivals: 0 });
      expect(await pruned(then(), 2)).toEqual({ events: 5, runs: 0, arrivals: 0 });

      // Of each effect what was made last is remembered.
      expect(await counts()).toEqual({
        arrivals: 0,
        events: 0,
        arrival_events: 0,
        runs: 0,
        intents: 3,
        attempts: 3,
        echoes: 0,
        known_entries: 0,
      });
      const chain = await checkPage(stores.audit, KEY, 'acme', 0, 100, then().now);
      expect([chain.broken, chain.deleted.length > 0]).toEqual([null, true]);
    });

    it.each([
      ['is not sealed', 'UPDATE runs SET sealed_n = NULL'],
      ['has a run that is open', 'UPDATE runs SET ended_at = NULL'],
      ['ended later', `UPDATE runs SET ended_at = now() + interval '11 days'`],
      ['has an intent that waits for a person', `UPDATE intents SET state = 'waiting'`],
      ['has an effect that is looked at again', `UPDATE intents SET look_again_at = now()`],
      ['still has a body', 'UPDATE arrivals SET archived_at = NULL'],
      ['is told by a young arrival', `UPDATE arrivals SET arrived_at = now() + interval '11 days'`],
      ['is not decided', 'UPDATE events SET decided_at = NULL'],
      [
        'ended the process that decided it',
        `INSERT INTO work_in_progress SELECT 'event', id, 'me', now(), 3, true FROM events`,
      ],
      [
        'waits in an open window',
        `INSERT INTO runs SELECT (jsonb_populate_record(r, '{"id":"window","run_key":"w","ended_at":null,"event_id":null,"state":"gathering"}')).* FROM runs r; UPDATE runs SET coalesced_into = 'window' WHERE id <> 'window'`,
      ],
      [
        'is a gap whose delivery may still come',
        `INSERT INTO gaps (gap_key, forge, org, arrival_id, event_id, source, entry_key, class, reason, outcome, found_at) SELECT 'g', forge, org, 'a', id, 'feed', '1', 'down', '', 'repaired', now() FROM events`,
      ],
    ])('stays as a whole while it %s', async (_why, change) => {
      await happened();
      await settled();
      const before = await counts();
      for (const statement of change.split('; ')) await sql(statement);

      expect((await pruned()).events).toBe(0);
      expect({ ...(await counts()), runs: 1 }).toEqual(before);
    });

    it('keeps an arrival, and its event, until the list that it was read from begins later; then its key goes, too', async () => {
      const event = anEvent({ id: newId(), factKey: newId() });
      const entry = anEntry({ entryKey: '7' });
      const known = (): Promise<Set<string>> => stores.inbox.knownEntries('main', 'acme', 'feed', ['7']);
      await stores.inbox.storeEntries([entry]);
      await decideBy(stores.inbox, entry.id, async (tx) => {
        tx.insertEvent(event);
        tx.join(event.id);
      });
      await stores.journal.recordDecision({ eventId: event.id }, []);
      await stores.gaps.settle([entry.id], []);
      await settled();
      await stores.cursors.write('main', 'acme', 'feed', {
        since: '2026-01-01T00:00:00.000Z',
        hasMoved: false,
        historyTo: '0',
      });
      expect((await pruned()).events).toBe(0);

      await stores.retention.moveBeginnings(new Date(entry.readAt.getTime() + 6 * DAY_MS));
      expect((await pruned()).events).toBe(0);
      await stores.retention.moveBeginnings(new Date(entry.readAt.getTime() + 8 * DAY_MS));
      await stores.retention.moveBeginnings(entry.readAt);
      expect((await stores.cursors.read('main', 'acme', 'feed'))?.position).toEqual({
        since: new Date(entry.readAt.getTime() + 8 * DAY_MS).toISOString(),
        hasMoved: true,
        historyTo: '0',
      });
      expect((await known()).size).toBe(1);
      expect((await pruned()).events).toBe(1);
      expect([(await known()).size, await stores.inbox.get(entry.id)]).toEqual([0, null]);
    });

    it('an arrival that tells another event, too, stays with that one', async () => {
      const delivery = aDelivery();
      const [old, young] = [anEvent({ id: newId(), factKey: 'old' }), anEvent({ id: newId(), factKey: 'young' })];
      await stores.inbox.storeDeliveries([delivery]);
      await decideBy(stores.inbox, delivery.id, async (tx) => {
        for (const event of [old, young]) {
          tx.insertEvent(event);
          tx.join(event.id);
        }
      });
      await stores.journal.recordDecision({ eventId: old.id }, []);
      await settled();

      expect((await pruned()).events).toBe(1);
      expect(await stores.inbox.get(delivery.id)).toMatchObject({ eventId: young.id });
    });

    it('runs that no event caused go by themselves, and so do arrivals that tell none', async () => {
      const [runId, delivery] = [newId(), aDelivery()];
      const run = aRun({ id: runId, state: 'done', cause: { kind: 'apply', by: 'ann', plan: 'p', subject: '7' } });
      await stores.journal.recordDecision({}, [{ run, intents: [] }]);
      await stores.inbox.storeDeliveries([delivery]);
      await decideBy(stores.inbox, delivery.id, async (tx) => tx.close('decided', 'nothing to do'));
      await settled();

      expect(await pruned()).toEqual({ events: 0, runs: 1, arrivals: 1 });
      expect(await pruned()).toEqual({ events: 0, runs: 0, arrivals: 0 });
    });

    it('revisions go with what they decided, and the one before the oldest of it stays', async () => {
      const revision = async (n: number, state: 'active' | 'broken'): Promise<string> => {
        const id = `revision-${n}`;
        const at = new Date(Date.now() + (n - 10) * 10 * DAY_MS);
        await stores.revisions.save({
          id,
          org: 'acme',
          hash: id,
          files: [],
          state,
          problems: [],
          loadedAt: at,
        } as never);
        await sql(`INSERT INTO deciders VALUES ($1, $2, '{}')`, [`decider-${n}`, id]);
        return id;
      };
      for (const n of [1, 2, 4]) await revision(n, 'active');
      await revision(3, 'broken');
      const kept = async (): Promise<unknown[]> => [
        ...(await sql('SELECT id FROM revisions ORDER BY id')).map(({ id }) => id),
        ...(await sql('SELECT id FROM deciders ORDER BY id')).map(({ id }) => id),
      ];
      // The event was made between the second revision and the fourth: one of them decided it.
      const event = anEvent({ id: `${firstIdAt(new Date(Date.now() - 70 * DAY_MS))}-7000-8000-000000000000` });
      await sql(
        `INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, actor, repo, data, stored_at) VALUES ($1, 'main', 'acme', 'push', 'webhook', 'k', 'h', '{}', '{}', '{}', now())`,
        [event.id],
      );

      expect(await stores.retention.deleteRevisions(new Date(Date.now() + DAY_MS * 100))).toBe(1);
      expect(await kept()).toEqual(
        [2, 3, 4].flatMap((n) => `revision-${n}`).concat([2, 3, 4].map((n) => `decider-${n}`)),
      );

      await sql('DELETE FROM events');
      expect(await stores.retention.deleteRevisions(new Date(Date.now() - DAY_MS * 61))).toBe(0);
      expect(await stores.retention.deleteRevisions(new Date(Date.now() - DAY_MS * 50))).toBe(2);
      expect(await kept()).toEqual(['revision-4', 'decider-4']);
    });

    const keepState = (kind: string, objectId: string, value: string): Promise<unknown> =>
      sql(
        `INSERT INTO object_states (forge, org, repo_id, kind, object_id, state) VALUES ('main', 'acme', '7', $1, $2, $3)`,
        [kind, objectId, JSON.stringify({ state: { value, at: null, told: true } })],
      );

    describe('an act that counted for a rule', () => {
      const question = (act: string) => ({ forge: 'main', org: 'acme', rule: 'r1', acts: [act] });
      const counts = async (act: string): Promise<boolean> => (await stores.journal.toldActs(question(act))).size === 1;
      /** A rule acts upon an act that the event tells. */
      async function acted(act: string, event: Partial<ForgeEvent>): Promise<void> {
        const { event: stored } = await happened({ event });
        await stores.journal.takeActs(question(act), stored.id);
      }

      it('goes with its event where nothing stays that it was of', async () => {
        await keepState('issue', '3', 'closed');
        await acted('status 1', { kind: 'status.set', data: { status: { id: '1' } } });
        await acted('comment 2', { kind: 'comment.created', data: { number: '2' } });
        await acted('comment 3', { kind: 'comment.created', data: { number: '3' } });
        await settled();
        expect(await counts('status 1')).toBe(true);

        expect((await pruned()).events).toBe(3);
        expect(await sql('SELECT act FROM told_acts')).toEqual([]);
      });

      it('stays without it while its issue is open or was closed lately, and goes when that was closed long ago, or with the repository', async () => {
        await keepState('issue', '1', 'open');
        await keepState('pull_request', '2', 'open');
        await acted('comment 1', { kind: 'comment.created', data: { number: '1' } });
        await acted('opening 2', {
          kind: 'pull_request.opened',
          factKey: '7|pull_request.opened|2',
          data: { number: 2 },
        });
        await settled();
        expect((await pruned()).events).toBe(2);
        expect([await counts('comment 1'), await counts('opening 2')]).toEqual([true, true]);

        await sql(`UPDATE object_states SET state = replace(state, 'open', 'closed') WHERE object_id = '1'`);
        await happened({ event: { kind: 'issue.closed', factKey: '7|issue.closed|1', data: { number: '1' } } });
        await settled();
        await pruned();
        expect([await counts('comment 1'), await counts('opening 2')]).toEqual([false, true]);

        await happened({ event: { kind: 'repository.deleted', factKey: '7|repository.deleted' } });
        await settled();
        await pruned();
        expect(await sql('SELECT act FROM told_acts')).toEqual([]);
      });
    });

    it('the state of a release or an issue goes when that was deleted, and stays while it is there', async () => {
      for (const id of ['8', '9']) await keepState('release', id, 'published');
      for (const number of ['1', '2']) await keepState('issue', number, 'open');
      await happened({ event: { kind: 'release.updated', factKey: '7|release.updated|9' } });
      await happened({ event: { kind: 'release.deleted', factKey: '7|release.deleted|8' } });
      await happened({ event: { kind: 'issue.deleted', factKey: '7|issue.deleted|1' } });
      await settled();

      expect((await pruned()).events).toBe(3);
      const left = await sql('SELECT kind, object_id FROM object_states ORDER BY kind');
      expect(left.map((row) => `${row['kind']} ${row['object_id']}`)).toEqual(['issue 2', 'release 9']);
    });

    describe('what was made of an effect', () => {
      const seen = async (): Promise<unknown> => {
        const [sent] = await stores.recovery.sentOfEffects(['label bug'], 9);
        const last = await stores.journal.lastSettled('label bug');
        return { sent, last };
      };
      /** Whether a new intent of the effect is told that it has a history. */
      const hasHistory = async (): Promise<boolean> => {
        const [runId, id] = [newId(), newId()];
        const intents = [anIntent({ id, runId, effectKey: 'label bug' })];
        await stores.journal.recordDecision({}, [
          { run: aRun({ id: runId, cause: { kind: 'apply', by: 'a', plan: id, subject: '7' } }), intents },
        ]);
        const claim = given(await claimOne(stores.journal, id, 'me', LEASE_MS));
        await stores.journal.move({
          intentId: id,
          epoch: claim.epoch,
          from: ['claimed'],
          to: 'suppressed',
          reason: because('x'),
        });
        return claim.hasHistory;
      };

      it('is remembered without its run, and is the same as before', async () => {
        await happened();
        await happened();
        await happened({ ends: 'unchanged' });
        await settled();
        const before = await seen();

        expect((await pruned()).events).toBe(3);
        expect(await seen()).toEqual(before);
        expect(await hasHistory()).toBe(true);
        expect((await counts())['intents']).toBe(3);
      });

      it('is forgotten when something newer was made, and remembered until then', async () => {
        const first = await happened();
        await settled();
        await pruned();
        expect(await stores.journal.intent(first.intentId)).toMatchObject({ state: 'done' });
        const second = await happened();
        await settled();
        await pruned();

        expect(await stores.journal.intent(first.intentId)).toBeNull();
        expect((await seen()) as object).toMatchObject({
          sent: { intent: { id: second.intentId } },
          last: { id: second.intentId },
        });
      });

      it('can still be undone by a person, whose undo stays', async () => {
        await happened();
        await settled();
        await pruned();
        const undo = {
          effectKey: 'label bug',
          eventId: 'e',
          by: 'ann',
          summary: 'ann undid it',
          at: new Date('2030-01-01'),
        };

        expect(await stores.recovery.noteUndo(undo)).toBe(true);
        await pruned(then(3 * DAYS));
        expect(await stores.recovery.undoOf('label bug')).toEqual(undo);
        expect(await stores.recovery.noteUndo({ ...undo, effectKey: 'never made' })).toBe(false);
      });

      it('is forgotten with its issue, when that was closed as long ago, or with its repository', async () => {
        const issue = (number: string): StatedObject => ({ repoId: '7', kind: 'issue', objectId: number });
        const about = (number: string): Told => ({
          event: { kind: 'issue.closed', factKey: `7|issue.closed|${number}` },
          object: issue(number),
          intent: { effectKey: `issue ${number}`, object: `issue ${number}` },
        });
        for (const number of ['1', '2']) {
          await happened(about(number));
          await keepState('issue', number, number === '1' ? 'closed' : 'open');
          const undo = { eventId: 'e', by: 'ann', summary: 'ann undid it', at: new Date() };
          await stores.recovery.noteUndo({ ...undo, effectKey: `issue ${number}` });
        }
        await settled();
        await pruned();
        const left = async (): Promise<unknown[]> => [
          (await sql('SELECT object_id FROM object_states')).map((row) => row['object_id']),
          (await sql('SELECT object FROM intents ORDER BY object')).map((row) => row['object']),
          (await sql('SELECT effect_key FROM undone')).map((row) => row['effect_key']),
        ];
        expect(await left()).toEqual([['2'], ['issue 2'], ['issue 2']]);

        await happened({
          event: { kind: 'repository.deleted' },
          intent: { effectKey: 'of another', orderKey: 'main/repository/8' },
        });
        await settled();
        await pruned();
        expect(await left()).toEqual([[], ['label bug'], []]);
      });

      it('is shown to an erasure, which may change its texts', async () => {
        const { runId, intentId } = await happened({ intent: { params: { name: 'bug', text: 'by ann@example.org' } } });
        await settled();
        await pruned();
        const asked = (): Promise<ErasurePage<ErasableRun>> =>
          stores.erasure.remembered('main', null, ['ann@example.org']);

        const [row] = (await asked()).rows;
        expect(row).toMatchObject({ id: runId, eventId: null, intents: [{ id: intentId }], attempts: [{}] });
        expect(row?.intents[0]?.columns.params).toBe('{"name":"bug","text":"by ann@example.org"}');
        const columns = { params: '{}', result: null, reason_params: '{}' };
        await stores.erasure.write({ runs: [{ ...given(row), intents: [{ id: intentId, columns }] }] }, KEY);

        expect(await stores.journal.intent(intentId)).toMatchObject({ params: {} });
        expect(await asked()).toEqual({ rows: [], last: null });
        expect((await stores.erasure.remembered('other', null, ['ann'])).rows).toEqual([]);
      });
    });
  });
}
