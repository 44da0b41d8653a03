import { until } from '../services/until.js';
import { decideBy } from '../builders/decide-all.js';
import { aConfig } from '../builders/a-config.js';
import { NO_JOBS } from '../builders/no-jobs.js';
import { ANSWER_RULE } from '../../src/core/own-rules.js';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ActiveRevision } from '../../src/rules/revisions/active-revisions.port.js';
import type { StoredRevision } from '../../src/rules/revisions/revision-store.port.js';
import { alert as raised } from '../../src/core/alerts.js';
import { systemClock } from '../../src/core/clock.js';
import { newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import type { Stores } from '../../src/store/open-stores.js';
import { Scheduler } from '../../src/housekeeping/scheduler.js';
import { OpenAlerts } from '../../src/housekeeping/open-alerts.js';
import { AlertSender } from '../../src/observability/alert-sender.js';
import { Metrics } from '../../src/observability/metrics.js';
import { ArchiveFiles } from '../../src/housekeeping/archive-files.js';
import { ArchiveInbox } from '../../src/housekeeping/archive-inbox.js';
import type { Tick } from '../../src/pipeline/tick-store.port.js';
import type { SubjectFindings } from '../../src/policies/finding-store.port.js';
import { aDelivery, anEntry, anEvent } from '../builders/arrivals.js';
import { aRun, anIntent } from '../builders/journal.js';
import { FakeMessenger } from '../fakes/fake-messenger.js';
import { ManualClock } from '../fakes/manual-clock.js';
import { storeEvent } from '../builders/store-event.js';
import { endedRecordsSuite } from './ended-records.suite.js';
import { deletedHistorySuite } from './deleted-history.suite.js';
import { forgettingSuite } from './forgetting.suite.js';
import { feedRepositoriesSuite } from './feed-repositories.suite.js';
import { keptWorkSuite } from './kept-work.suite.js';
import { seldomAskedSuite } from './seldom-asked.suite.js';

/** Old ticks, revisions, findings, repositories seen, history, and what crosses from one store into another. */
export function otherStoresSuite(open: () => Promise<Stores>): void {
  let stores: Stores;

  beforeEach(async () => {
    stores = await open();
  });

  keptWorkSuite(open);

  it('the signal to reload is known to whoever asks later, and a newer one takes its place', async () => {
    expect(await stores.reload.last()).toBeNull();

    const first = await stores.reload.give();
    expect(await stores.reload.last()).toEqual(first);
    await until(async () => (await stores.reload.give()) > first);

    expect((await stores.reload.last())?.getTime()).toBeGreaterThan(first.getTime());
    // It stands beside the heartbeat of the receivers, and is none.
    expect(await stores.gaps.beat(new Date(), 1)).toBeNull();
  });

  seldomAskedSuite(open);

  describe('open alerts', () => {
    const at = new Date('2026-11-24T10:00:00Z');
    const alert = (key: string) => ({ key, code: 'gaps', message: `about ${key}`, org: 'acme', at });
    const age = (process: string) =>
      stores.dataSource.query(`UPDATE open_alerts SET at = at - interval '5 minutes' WHERE process = $1`, [process]);

    it('are those that each process published last, while it goes on to publish', async () => {
      await stores.openAlerts.publish('a', [alert('gaps/a1'), alert('gaps/a2')]);
      await stores.openAlerts.publish('b', [{ ...alert('gaps/b'), org: null }]);
      await stores.openAlerts.publish('c', [alert('gaps/c')]);
      await stores.openAlerts.publish('a', [alert('gaps/a2')]);
      await age('c');

      expect((await stores.openAlerts.publishedWithin(60_000)).sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
        alert('gaps/a2'),
        { ...alert('gaps/b'), org: null },
      ]);
      await stores.openAlerts.publish('c', [alert('gaps/c')]);
      expect(await stores.openAlerts.publishedWithin(60_000)).toHaveLength(3);
    });

    it('are forgotten with a process that is gone', async () => {
      await stores.openAlerts.publish('gone', [alert('gaps/a')]);
      await stores.openAlerts.publish('here', [alert('gaps/b')]);
      await age('gone');

      await stores.openAlerts.forget(60_000);

      const rows = (await stores.dataSource.query('SELECT process FROM open_alerts')) as unknown;
      expect(rows).toEqual([{ process: 'here' }]);
    });

    it('are closed where they were raised, when another process resolves them', async () => {
      const clock = new ManualClock(at.toISOString());
      const processes = ['raises', 'resolves'].map((self) => {
        const own = new AlertSender(silentLogger, new Metrics(), clock, null, new FakeMessenger());
        return { own, alerts: new OpenAlerts({ id: self }, own, stores.openAlerts, clock) };
      });
      const [raises, resolves] = processes as [(typeof processes)[number], (typeof processes)[number]];
      const everywhere = () =>
        Promise.all(processes.map(async ({ alerts }) => (await alerts.all()).map(({ key }) => key)));
      raises.own.raise('gaps/acme', raised('gaps', { org: 'acme' }));
      raises.own.raise('gaps/other', raised('gaps', { org: 'other' }));
      await raises.alerts.publish();
      clock.advance(1_000);

      resolves.own.resolve('gaps/acme');
      const shown = (await resolves.alerts.all()).map(({ key }) => key);
      await resolves.alerts.settle();
      await raises.alerts.settle();

      expect(shown).toEqual(['gaps/other']);
      expect(raises.own.raised().map(({ key }) => key)).toEqual(['gaps/other']);
      expect(await everywhere()).toEqual([['gaps/other'], ['gaps/other']]);
      clock.advance(1_000);
      raises.own.raise('gaps/acme', raised('gaps', { org: 'acme' }));
      await raises.alerts.settle();
      await raises.alerts.publish();
      expect(await everywhere()).toEqual([
        ['gaps/other', 'gaps/acme'],
        ['gaps/other', 'gaps/acme'],
      ]);
    });

    it('keep the last time that a key was resolved, for as long as processes are remembered', async () => {
      const later = new Date(at.getTime() + 1_000);
      await stores.openAlerts.resolve([
        { key: 'gaps/a', at: later },
        { key: 'gaps/b', at: new Date() },
      ]);
      await stores.openAlerts.resolve([{ key: 'gaps/a', at }]);

      expect(await stores.openAlerts.resolved(['gaps/a', 'gaps/c'])).toEqual([{ key: 'gaps/a', at: later }]);
      await stores.dataSource.query(
        `UPDATE resolved_alerts SET at = now() - interval '5 minutes' WHERE key = 'gaps/a'`,
      );
      await stores.openAlerts.forget(60_000);
      expect((await stores.openAlerts.resolved(['gaps/a', 'gaps/b'])).map(({ key }) => key)).toEqual(['gaps/b']);
    });

    it.each(['no JSON', '{}', '[{"key":1}]', `["${'x'.repeat(1_000_000)}"]`])(
      'leave out what no process of this version writes: %.20s',
      async (text) => {
        await stores.openAlerts.publish('a', [alert('gaps/a')]);
        await stores.dataSource.query(
          `INSERT INTO open_alerts (process, alerts, at) VALUES ('odd', $1, clock_timestamp())`,
          [text],
        );

        expect(await stores.openAlerts.publishedWithin(60_000)).toEqual([alert('gaps/a')]);
      },
    );
  });

  describe('work for a sweep', () => {
    it('may be there from an arrival until it is decided, and from an event until it is', async () => {
      const delivery = aDelivery();
      const event = anEvent();
      const seen = [await stores.recovery.mayHaveWork()];
      await stores.inbox.storeDeliveries([delivery]);
      seen.push(await stores.recovery.mayHaveWork());
      await decideBy(stores.inbox, delivery.id, (tx) => tx.close('quarantined', 'no'));
      seen.push(await stores.recovery.mayHaveWork());
      await storeEvent(stores.inbox, event);
      seen.push(await stores.recovery.mayHaveWork());
      await stores.journal.recordDecision({ eventId: event.id }, []);
      seen.push(await stores.recovery.mayHaveWork());

      expect(seen).toEqual([false, true, false, true, false]);
    });
  });

  describe('ids', () => {
    it('are found by their beginning and by their end, of the kinds that are asked for', async () => {
      const [first, second] = ['019aa1b2-0000-7000-8000-00000000c0de', '019aa1b3-0000-7000-8000-00000000beef'] as const;
      await stores.journal.recordDecision({}, [
        { run: aRun({ id: first, runKey: 'a' }), intents: [anIntent({ id: second, runId: first })] },
      ]);
      const run = { kind: 'run', id: first };
      const intent = { kind: 'intent', id: second };
      const like = (text: string, limit = 5) => stores.ids.like(text, ['run', 'intent', 'revision'], limit, null);

      expect(await like('019a')).toEqual([run, intent]);
      expect(await like('019aa1b2')).toEqual([run]);
      expect(await like('c0de')).toEqual([run]);
      expect(await like('0000beef')).toEqual([intent]);
      expect(await like(first)).toEqual([run]);
      expect(await like('a1b2')).toEqual([]);
      expect(await stores.ids.like('019a', ['event', 'arrival', 'intent'], 5, null)).toEqual([intent]);
    });
  });

  describe('policies of a new revision', () => {
    const LOADED = ['2026-11-20T12:00:00Z', '2026-11-20T12:10:00Z', '2026-11-20T12:20:00Z', '2026-11-20T12:30:00Z'];
    const DAILY = { cron: '0 3 * * *', tz: 'UTC', jitterS: 0 };

    /** Each word is a policy and what it says: `a1` is policy a of text 1. */
    const revision = (n: number, ...texts: string[]): ActiveRevision =>
      ({
        id: `r-${texts.join('')}`,
        loadedAt: new Date(LOADED[n] ?? ''),
        revision: {
          org: 'acme',
          hash: texts.join(''),
          rules: [],
          policies: texts.map((text) => ({ id: text.slice(0, 1), textHash: text, schedule: DAILY })),
        },
      }) as never;

    it('are reconciled where they say something else than before, in whatever process, and after a way back', async () => {
      let active = revision(0, 'a1', 'b1');
      const decided: string[] = [];
      const scheduler = (): Scheduler =>
        new Scheduler(
          aConfig({ orgs: [{ forge: 'main', name: 'acme', freeze: [] }] }),
          { active: async () => active },
          NO_JOBS,
          stores.ticks,
          stores.knownFacts,
          {
            decideTick: async ({ id, schedule }) => (
              decided.push(schedule.slice('policy:'.length)),
              await stores.ticks.markDecided(id),
              { runs: 1, undecided: [] }
            ),
          },
          { ...systemClock, now: () => new Date('2026-11-20T12:45:00Z') },
          silentLogger,
        );
      const [one, two] = [scheduler(), scheduler()];
      const look = async (next: ActiveRevision): Promise<string[]> => {
        active = next;
        for (const each of [one, two, scheduler()]) await each.wake();
        return decided.splice(0);
      };

      expect(await look(revision(0, 'a1', 'b1'))).toEqual(['a@a1b1', 'b@a1b1']);
      expect(await look(revision(1, 'a1', 'b2'))).toEqual(['b@a1b2']);
      expect(await look(revision(2, 'a1', 'b1'))).toEqual(['b@a1b1']);
      expect(await look(revision(3, 'a1', 'b1', 'c1'))).toEqual(['c@a1b1c1']);
    });
  });

  describe('policies that were applied before', () => {
    it('trusts a policy of one organization from its first application on, whoever applies it again', async () => {
      const { plans } = stores;
      expect(await plans.isTrusted('acme', 'labels')).toBe(false);

      await plans.trust('acme', ['labels', 'mirrors'], 'ann');
      await plans.trust('acme', ['labels', 'backlog'], 'ben');

      const asked = ['labels', 'mirrors', 'backlog', 'other'].map((policy) => plans.isTrusted('acme', policy));
      expect(await Promise.all(asked)).toEqual([true, true, true, false]);
      expect(await plans.isTrusted('other', 'labels')).toBe(false);
    });
  });

  describe('a list of arrivals', () => {
    it('goes on from page to page, and leaves out what changed nothing', async () => {
      const events = ['r1', 'r2', 'r3'].map((id) => anEvent({ factKey: id }));
      const told = events.map(() => aDelivery());
      const waiting = aDelivery();
      for (const [n, event] of events.entries()) await storeEvent(stores.inbox, event, told[n]);
      await stores.inbox.storeDeliveries([waiting]);
      const states = ['error', 'not-fired', 'done'] as const;
      for (const [n, event] of events.entries())
        await stores.journal.recordDecision({ eventId: event.id }, [
          {
            run: aRun({
              id: `r${n}`,
              runKey: `k${n}`,
              state: states[n] ?? 'done',
              cause: { kind: 'event', eventId: event.id },
            }),
            intents: [],
          },
        ]);
      const ids = async (filter: object): Promise<string[]> =>
        (await stores.inbox.list({ limit: 9, ...filter })).map(({ id }) => id);
      const [first, second, third] = told.map(({ id }) => id);

      expect(await ids({ limit: 2 })).toEqual([waiting.id, third]);
      expect(await ids({ before: third })).toEqual([second, first]);
      expect(await ids({ changed: true })).toEqual([waiting.id, first]);
      expect((await stores.inbox.list({ limit: 9, before: second }))[0]?.eventIds).toEqual([events[0]?.id]);
    });
  });

  describe('maintenance', () => {
    it('gives up old bodies in several batches, and is swept meanwhile; what is young or not decided stays', async () => {
      const now = new Date('2026-11-20T12:00:00Z');
      const daysAgo = (days: number): Date => new Date(now.getTime() - days * 86_400_000);
      const old = Array.from({ length: 450 }, () => aDelivery({ receivedAt: daysAgo(31) }));
      const young = aDelivery({ receivedAt: daysAgo(29) });
      const waiting = aDelivery({ receivedAt: daysAgo(31) });
      await stores.inbox.storeDeliveries([...old, young, waiting]);
      for (const { id } of [...old, young])
        await decideBy(stores.inbox, id, (tx) => tx.close('decided', 'nothing to do'));
      const archive = new ArchiveInbox(
        aConfig({ retention: { inboxDays: 30, historyDays: 400, archive: null } }),
        { onFlushFailed: () => undefined },
        stores.inbox,
        stores.archive,
        { ...systemClock, now: () => now },
        silentLogger,
      );

      const [archived] = await Promise.all([
        archive.run(),
        stores.maintenance('vacuum'),
        stores.maintenance('checkpoint'),
      ]);
      const again = await archive.run();

      expect([archived, again]).toEqual([450, 0]);
      expect(await stores.inbox.get(old[0]?.id ?? '')).toMatchObject({ text: '', archivedAt: expect.anything() });
      expect(await stores.inbox.get(young.id)).toMatchObject({ text: young.text, archivedAt: null });
      expect(await stores.inbox.get(waiting.id)).toMatchObject({ text: waiting.text, archivedAt: null });
    });
  });

  describe('findings', () => {
    const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 20, 12, minute));
    const found = (minute: number, failing: string[], subject = '7'): SubjectFindings => ({
      forge: 'main',
      org: 'acme',
      policy: 'health',
      subject,
      name: 'acme/app',
      failing: failing.map((name) => ({
        name,
        severity: name === 'dead' ? 'critical' : 'low',
        message: `${name} does not hold`,
      })),
      looked: ['dead', 'old'],
      at: at(minute),
    });

    it('keeps since when something does not hold, ends it when it holds again, and begins anew after that', async () => {
      await stores.findings.record(found(0, ['dead', 'old']));
      await stores.findings.record(found(0, ['dead', 'old']));
      await stores.findings.record(found(1, ['old']));
      const open = await stores.findings.list({ ended: false, limit: 10 });
      const all = await stores.findings.list({ ended: true, limit: 10 });
      await stores.findings.record(found(2, ['dead']));

      expect(open).toMatchObject([{ name: 'old', since: at(0), lastSeenAt: at(1), endedAt: null }]);
      expect(all.map(({ name, endedAt }) => [name, endedAt])).toEqual([
        ['dead', at(1)],
        ['old', null],
      ]);
      const first = await stores.findings.page({ ended: true, limit: 1 });
      const second = await stores.findings.page({ ended: true, limit: 100, after: first.next ?? '' });
      expect([...first.rows, ...second.rows]).toEqual(await stores.findings.list({ ended: true, limit: 10 }));
      expect([first.rows.length, first.total, first.open, second.next]).toEqual([1, 2, 1, null]);
      expect(await stores.findings.page({ org: 'nobody', ended: true, limit: 1 })).toEqual({
        ...{ rows: [], next: null, total: 0, open: 0 },
      });
      expect(await stores.findings.list({ severity: 'critical', ended: false, limit: 10 })).toMatchObject([
        { name: 'dead', since: at(2) },
      ]);
      expect([
        await stores.findings.countOpen('acme', 'health', 'dead'),
        await stores.findings.countOpen('acme', 'health', 'old'),
      ]).toEqual([1, 0]);
    });

    it('lists those of one subject', async () => {
      await stores.findings.record(found(0, ['old']));
      await stores.findings.record(found(0, ['dead'], '8'));
      await stores.findings.record(found(0, ['dead'], ''));
      const of = async (subject: string): Promise<string[]> =>
        (await stores.findings.list({ subject, ended: false, limit: 10 })).map(({ name }) => name);

      expect([await of('7'), await of('8'), await of(''), await of('9')]).toEqual([['old'], ['dead'], ['dead'], []]);
    });
  });

  describe('known facts', () => {
    it('keeps the newest of each kind about each subject', async () => {
      await stores.knownFacts.write('main', 'acme', 'rules.pin', { id: '12' });
      await stores.knownFacts.write('main', 'acme', 'rules.pin', { id: '13', n: 9007199254740993n });
      await stores.knownFacts.write('main', '', 'rules.pin', null);

      expect(await stores.knownFacts.read('main', 'acme', 'rules.pin')).toEqual({
        fact: { id: '13', n: 9007199254740993n },
        learnedAt: expect.any(Date),
      });
      expect(await stores.knownFacts.read('main', '', 'rules.pin')).toMatchObject({ fact: null });
      expect(await stores.knownFacts.read('main', 'acme', 'server')).toBeNull();
      expect(await stores.knownFacts.read('second', 'acme', 'rules.pin')).toBeNull();
    });

    it('tells all of a kind at once', async () => {
      await stores.knownFacts.write('main', 'acme', 'org.hooks', 1);
      await stores.knownFacts.write('second', 'acme', 'org.hooks', 2);
      await stores.knownFacts.write('main', 'acme', 'org.rights', 3);

      const all = await stores.knownFacts.all('org.hooks');

      expect(all.map(({ forge, subject, fact }) => [forge, subject, fact]).sort()).toEqual([
        ['main', 'acme', 1],
        ['second', 'acme', 2],
      ]);
      expect(all[0]?.learnedAt).toBeInstanceOf(Date);
    });

    it('tells some kinds about some subjects at once', async () => {
      await stores.knownFacts.write('main', 'acme', 'org.hooks', 1);
      await stores.knownFacts.write('second', 'acme', 'org.rights', 2);
      await stores.knownFacts.write('main', 'other', 'org.hooks', 3);
      await stores.knownFacts.write('main', 'acme', 'server', 4);

      const some = await stores.knownFacts.of(['org.hooks', 'org.rights'], ['acme', 'nobody']);

      expect(some.map(({ forge, subject, kind, fact }) => [forge, subject, kind, fact]).sort()).toEqual([
        ['main', 'acme', 'org.hooks', 1],
        ['second', 'acme', 'org.rights', 2],
      ]);
      expect(some[0]?.learnedAt).toBeInstanceOf(Date);
      expect(await stores.knownFacts.of(['org.hooks'], [])).toEqual([]);
    });

    it('lets one at a time learn something, until it is done or its time is over', async () => {
      const claim = (forMs: number): Promise<boolean> => stores.knownFacts.claim('main', 'acme', 'org.hooks', forMs);

      const both = await Promise.all([claim(60_000), claim(60_000)]);
      const other = await stores.knownFacts.claim('main', 'other', 'org.hooks', 60_000);
      await stores.knownFacts.release('main', 'acme', 'org.hooks');
      const after = await claim(60_000);
      const late = await claim(-1);

      expect([both.sort(), other, after, late]).toEqual([[false, true], true, true, true]);
      expect(await stores.knownFacts.read('main', 'acme', 'org.hooks')).toBeNull();
    });

    it('lets a holder extend its claim, and another one take it over only when its time is over', async () => {
      const claim = (holder: string, forMs = 60_000): Promise<boolean> =>
        stores.knownFacts.claim('main', '', 'polls', forMs, holder);

      const first = [await claim('a'), await claim('b'), await claim('a'), await claim('b')];
      await stores.knownFacts.release('main', '', 'polls', 'b');
      const kept = await claim('b');
      const late = [await claim('b', -1), await claim('a')];
      await stores.knownFacts.release('main', '', 'polls', 'a');
      const takenOver = await claim('a');
      await stores.knownFacts.release('main', '', 'polls', 'b');

      expect([first, kept, late, takenOver, await claim('a')]).toEqual([
        [true, false, true, false],
        false,
        [true, false],
        false,
        true,
      ]);
    });

    it('takes names with NUL, which no database holds', async () => {
      await stores.knownFacts.write('main', 'ac\0me', 'server', '1.25');

      expect(await stores.knownFacts.read('main', 'ac\0me', 'server')).toMatchObject({ fact: '1.25' });
      expect(await stores.knownFacts.read('main', 'ac\0', 'server')).toBeNull();
    });
  });

  describe('the archive of the inbox', () => {
    let folder: string;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'forgehand-archive-'));
    });

    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    const at = new Date('2026-11-20T12:00:00Z');
    const archiveOf = (over: Stores): ArchiveInbox =>
      new ArchiveInbox(
        aConfig({ retention: { inboxDays: 30, historyDays: 400, archive: folder } }),
        { onFlushFailed: () => undefined },
        over.inbox,
        over.archive,
        { ...systemClock, now: () => at },
        silentLogger,
      );
    const old = new Date('2026-10-01T08:00:00Z');

    it('keeps in a file what the store gives up, byte for byte, and brings it back', async () => {
      const form = Buffer.from('payload=%7B%22n%22%3A1%7D');
      const deliveries = [
        aDelivery({ receivedAt: old }),
        aDelivery({
          receivedAt: old,
          contentType: 'form',
          body: form,
          text: '{"n":1}',
          textHash: createHash('sha256').update('{"n":1}').digest('hex'),
        }),
      ];
      const entry = anEntry({ readAt: new Date('2026-10-02T08:00:00Z') });
      await stores.inbox.storeDeliveries(deliveries);
      await stores.inbox.storeEntries([entry]);
      const ids = [...deliveries.map(({ id }) => id), entry.id];
      for (const id of ids) await decideBy(stores.inbox, id, (tx) => tx.close('decided', 'nothing to do'));
      const before = await Promise.all(ids.map((id) => stores.inbox.get(id)));
      const archive = archiveOf(stores);

      expect(await archive.run()).toBe(3);
      expect(readdirSync(folder).sort()).toEqual(['2026-10-01.ndjson.gz', '2026-10-02.ndjson.gz']);
      expect((await Promise.all(ids.map((id) => stores.inbox.get(id)))).map((one) => one?.text)).toEqual(['', '', '']);
      expect(await archive.run()).toBe(0);

      const reports = [];
      for (const file of readdirSync(folder).sort()) reports.push(await archive.restore(join(folder, file)));
      expect(reports).toEqual([
        { putBack: 2, stored: 0, history: 0, unchanged: 0 },
        { putBack: 1, stored: 0, history: 0, unchanged: 0 },
      ]);
      expect(await Promise.all(ids.map((id) => stores.inbox.get(id)))).toEqual(before);
      expect(await archive.restore(join(folder, '2026-10-01.ndjson.gz'))).toEqual({
        putBack: 0,
        stored: 0,
        history: 0,
        unchanged: 2,
      });
    });

    it('gives arrivals to an inbox that does not know them, to be decided', async () => {
      const delivery = aDelivery({ receivedAt: old });
      await new ArchiveFiles(folder).append([
        { kind: 'delivery', ...delivery, state: 'decided', eventId: null, repeats: 0, archivedAt: null },
      ]);

      expect(await archiveOf(stores).restore(join(folder, '2026-10-01.ndjson.gz'))).toEqual({
        putBack: 0,
        stored: 1,
        history: 0,
        unchanged: 0,
      });

      expect(await stores.inbox.dueArrivals(9)).toEqual([delivery.id]);
      expect((await stores.inbox.get(delivery.id))?.text).toBe(delivery.text);
    });

    it('makes arrivals readable that are older than history, and never decides them', async () => {
      const [delivery, entry] = [aDelivery({ receivedAt: new Date('2025-10-01T08:00:00Z') }), anEntry({ readAt: old })];
      const archived = { state: 'decided', eventId: null, repeats: 0, archivedAt: null } as const;
      await new ArchiveFiles(folder).append([
        { kind: 'delivery', ...delivery, ...archived },
        { kind: 'entry', ...entry, readAt: delivery.receivedAt, ...archived },
      ]);

      const restored = await archiveOf(stores).restore(join(folder, '2025-10-01.ndjson.gz'));

      expect(restored).toEqual({ putBack: 0, stored: 0, history: 2, unchanged: 0 });
      expect(await stores.inbox.dueArrivals(9)).toEqual([]);
      expect(await stores.gaps.waiting(new Date('2030-01-01'), 9)).toEqual([]);
      expect((await stores.inbox.get(delivery.id))?.text).toBe(delivery.text);
      expect((await stores.inbox.get(entry.id))?.text).toBe(entry.text);
      expect((await stores.inbox.list({ limit: 9 })).map(({ code }) => code)).toEqual(['history', 'history']);
      const again = await archiveOf(stores).restore(join(folder, '2025-10-01.ndjson.gz'));
      expect(again).toEqual({ putBack: 0, stored: 0, history: 0, unchanged: 2 });
    });

    it('names the line of a file that is no archive', async () => {
      const file = join(folder, 'x.ndjson.gz');
      writeFileSync(file, gzipSync('{"kind":"delivery"}\n'));

      await expect(archiveOf(stores).restore(file)).rejects.toThrow(
        `${file}:1:1: this line is not an archived arrival`,
      );
    });
  });

  describe('ticks', () => {
    const at = (time: string): Date => new Date(`2026-11-20T${time}Z`);
    const aTick = (over: Partial<Tick> = {}): Omit<Tick, 'state'> => ({
      id: newId(),
      forge: 'main',
      org: 'acme',
      schedule: 'nightly',
      occurrence: at('02:00:00'),
      ...over,
    });

    describe('that are old', () => {
      const day = (n: number): Date => new Date(Date.UTC(2026, 0, n));
      const decided = async (over: Partial<Tick>): Promise<string> => {
        const tick = aTick(over);
        expect(await stores.ticks.claim(tick)).toBe(true);
        await stores.ticks.markDecided(tick.id);
        return tick.id;
      };
      /** Whether an occurrence still has its row: else it could be claimed once more. */
      const stands = async (n: number, schedule = 'nightly'): Promise<boolean> =>
        !(await stores.ticks.claim(aTick({ schedule, occurrence: day(n) })));

      it('go, but the newest of each schedule and what is not decided', async () => {
        for (const n of [1, 3, 4, 5, 6]) await decided({ occurrence: day(n) });
        await stores.ticks.claim(aTick({ occurrence: day(2) }));
        await decided({ schedule: 'yearly', occurrence: day(1) });
        await decided({ org: 'other', occurrence: day(1) });

        expect(await stores.ticks.prune(day(5), 3, 9)).toBe(2);

        expect(await stores.ticks.prune(day(5), 3, 9)).toBe(0);
        expect([await stands(2), await stands(4), await stands(5), await stands(6), await stands(1, 'yearly')]).toEqual(
          [true, true, true, true, true],
        );
        expect([await stands(1), await stands(3)]).toEqual([false, false]);
        expect(await stores.ticks.last('main', 'other', 'nightly')).toEqual(day(1));
      });

      it('stay as long as they are younger, and go by so many at once', async () => {
        for (const n of [1, 2, 3, 4, 5, 6]) await decided({ occurrence: day(n) });

        expect(await stores.ticks.prune(day(1), 1, 9)).toBe(0);
        expect(await stores.ticks.prune(day(4), 1, 2)).toBe(2);
        expect(await stores.ticks.prune(day(4), 1, 9)).toBe(1);
        expect(await stores.ticks.last('main', 'acme', 'nightly')).toEqual(day(6));
      });

      it('go with the revision for which a policy was reconciled, and not before', async () => {
        await stores.revisions.save({
          id: newId(),
          org: 'acme',
          hash: 'b'.repeat(64),
          files: [],
          state: 'active',
          problems: [],
          loadedAt: day(1),
        });
        for (const hash of ['a', 'b'])
          await decided({ schedule: `policy:labels@${hash.repeat(64)}`, occurrence: day(1) });

        expect(await stores.ticks.prune(day(9), 50, 9)).toBe(1);

        expect([
          await stands(1, `policy:labels@${'a'.repeat(64)}`),
          await stands(1, `policy:labels@${'b'.repeat(64)}`),
        ]).toEqual([false, true]);
      });
    });
  });

  describe('revisions', () => {
    const aRevision = (over: Partial<StoredRevision> = {}): StoredRevision => ({
      id: newId(),
      org: 'acme',
      hash: 'hash',
      files: [{ path: 'a.yaml', text: 'version: 1\n# \0 ä' }],
      state: 'active',
      problems: [],
      loadedAt: new Date('2026-11-20T12:00:00Z'),
      ...over,
    });

    it('has one active revision for each organization; the one before is replaced', async () => {
      const [first, second, other] = [aRevision(), aRevision(), aRevision({ org: 'other' })];
      for (const revision of [first, second, other]) await stores.revisions.save(revision);

      expect(await stores.revisions.active('acme')).toEqual(second);
      expect(await stores.revisions.active('other')).toEqual(other);
      expect(await stores.revisions.byId(first.id)).toEqual({ ...first, state: 'replaced' });
      expect(await stores.revisions.active('nobody')).toBeNull();
      const shown = ({ id, org, hash, loadedAt }: StoredRevision) => ({ id, org, hash, loadedAt });
      const activeOnes = await stores.revisions.activeIn(['acme', 'other', 'nobody']);
      expect(activeOnes.sort((a, b) => (a.org < b.org ? -1 : 1))).toEqual([shown(second), shown(other)]);
    });

    it('keeps a broken revision beside the active one', async () => {
      const [good, broken] = [aRevision(), aRevision({ state: 'broken', problems: ['a.yaml:1:1: no'] })];
      await stores.revisions.save(good);
      await stores.revisions.save(broken);

      expect((await stores.revisions.active('acme'))?.id).toBe(good.id);
      expect(await stores.revisions.list('acme', 9)).toEqual([broken, good]);
      expect(await stores.revisions.list('acme', 1)).toEqual([broken]);
    });

    it('makes a revision active again that was replaced', async () => {
      const [first, second] = [aRevision(), aRevision()];
      for (const revision of [first, second, first]) await stores.revisions.save(revision);

      expect((await stores.revisions.active('acme'))?.id).toBe(first.id);
      expect(await stores.revisions.byId(second.id)).toMatchObject({ state: 'replaced' });
    });

    it('names the ids that are not stored', async () => {
      const [first, second] = [aRevision(), aRevision({ state: 'broken' })];
      for (const revision of [first, second]) await stores.revisions.save(revision);

      expect(await stores.revisions.missing([first.id, 'other', second.id])).toEqual(['other']);
      expect(await stores.revisions.missing([])).toEqual([]);
    });

    it('has one active revision when many are saved at once', async () => {
      await Promise.all(Array.from({ length: 10 }, () => stores.revisions.save(aRevision())));

      const states = (await stores.revisions.list('acme', 99)).map(({ state }) => state);
      expect(states.filter((state) => state === 'active')).toHaveLength(1);
      expect(states).toHaveLength(10);
    });
  });

  feedRepositoriesSuite(async () => stores);
  endedRecordsSuite(async () => stores);
  forgettingSuite(async () => stores);
  deletedHistorySuite(async () => stores);

  describe('repositories seen', () => {
    it('tells the newest of each repository, without those that are gone', async () => {
      const repo = (id: string, name: string) => ({ id, owner: 'acme', name, full_name: `acme/${name}` });
      await storeEvent(stores.inbox, anEvent({ factKey: '1', repo: repo('1', 'old-name') }));
      await storeEvent(stores.inbox, anEvent({ factKey: '2', repo: repo('2', 'gone') }));
      await storeEvent(stores.inbox, anEvent({ factKey: '3', repo: repo('1', 'new-name') }));
      await storeEvent(stores.inbox, anEvent({ factKey: '4', repo: repo('2', 'gone'), kind: 'repository.deleted' }));
      await storeEvent(stores.inbox, anEvent({ factKey: '5', repo: repo('3', 'foreign'), org: 'other' }));
      await storeEvent(stores.inbox, anEvent({ factKey: '6', repo: null }));

      expect(await stores.seenRepositories.list('main', 'acme')).toEqual([repo('1', 'new-name')]);
    });
  });

  describe('history', () => {
    const whole = { org: 'acme', since: new Date(0), until: new Date('2030-01-01T00:00:00Z'), after: null };

    it('gives events in pages, each with its runs and what they wanted', async () => {
      const events = ['e1', 'e2', 'e3', 'e4'].map((id) => anEvent({ id, factKey: id }));
      for (const event of events) await storeEvent(stores.inbox, event);
      await storeEvent(stores.inbox, anEvent({ id: 'e0', factKey: 'e0', org: 'other' }));
      const cause = { kind: 'event', eventId: 'e2' } as const;
      const asked = { line: { value: 9007199254740993n, asked: 'x' } };
      await stores.journal.recordDecision({ eventId: 'e2' }, [
        {
          run: aRun({ id: 'r1', cause, lookups: asked }),
          intents: [anIntent({ id: 'a', runId: 'r1' }), anIntent({ id: 'b', runId: 'r1' })],
        },
        { run: aRun({ id: 'r2', rule: 'other', cause, state: 'not-fired' }), intents: [] },
      ]);

      const first = await stores.history.page({ ...whole, limit: 3 });
      const second = await stores.history.page({ ...whole, limit: 3, after: first.next });

      expect(first.events).toEqual(events.slice(0, 3));
      expect(second).toEqual({ events: events.slice(3), runs: [], next: null });
      expect(first.runs.map(({ id, rule, eventId, state, lookups }) => [id, rule, eventId, state, lookups])).toEqual([
        ['r1', 'r1', 'e2', 'open', asked],
        ['r2', 'other', 'e2', 'not-fired', {}],
      ]);
      expect(first.runs[0]?.intents.map(({ action, itemKey, state }) => [action, itemKey, state])).toEqual([
        ['label.ensure', 'a', 'planned'],
        ['label.ensure', 'b', 'planned'],
      ]);
    });

    it('keeps to its times', async () => {
      const at = (time: string): Date => new Date(`2026-11-20T${time}Z`);
      for (const time of ['10:00:00', '11:00:00', '12:00:00'])
        await storeEvent(stores.inbox, anEvent({ id: time, factKey: time, storedAt: at(time) }));

      const { events } = await stores.history.page({
        ...whole,
        since: at('11:00:00'),
        until: at('12:00:00'),
        limit: 9,
      });

      expect(events.map(({ id }) => id)).toEqual(['11:00:00']);
    });

    it('gives one event with its runs', async () => {
      await storeEvent(stores.inbox, anEvent({ id: 'e1' }));
      await stores.journal.recordDecision({ eventId: 'e1' }, [
        { run: aRun({ id: 'r', cause: { kind: 'event', eventId: 'e1' } }), intents: [] },
      ]);

      expect(await stores.history.ofEvent('e1')).toMatchObject({
        events: [{ id: 'e1' }],
        runs: [{ id: 'r' }],
        next: null,
      });
      expect(await stores.history.ofEvent('nothing')).toEqual({ events: [], runs: [], next: null });
    });

    it('leaves out what a shadow revision decided, and what no rule asked for', async () => {
      await storeEvent(stores.inbox, anEvent({ id: 'e1' }));
      const cause = { kind: 'event', eventId: 'e1' } as const;
      await stores.journal.recordDecision({ eventId: 'e1' }, [
        { run: aRun({ id: 'r1', rule: 'label', cause }), intents: [] },
        { run: aRun({ id: 'r2', rule: 'shadow/label', cause, mode: 'dry-run' }), intents: [] },
        { run: aRun({ id: 'r3', rule: 'shadowy', cause }), intents: [] },
        { run: aRun({ id: 'r4', rule: ANSWER_RULE, cause }), intents: [] },
      ]);

      expect((await stores.history.ofEvent('e1')).runs.map(({ id }) => id)).toEqual(['r1', 'r3']);
      expect((await stores.history.page({ ...whole, limit: 9 })).runs.map(({ id }) => id)).toEqual(['r1', 'r3']);
    });
  });
}
