import { aConfig } from '../builders/a-config.js';
import { Metrics } from '../../src/observability/metrics.js';
import { decideBy } from '../builders/decide-all.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Alerts } from '../../src/core/alerts.js';
import type { EntrySource } from '../../src/core/event.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import { silentLogger } from '../../src/core/logger.js';
import type { Stores } from '../../src/store/open-stores.js';
import type { Gap } from '../../src/pipeline/gap-store.port.js';
import type { OwnHook } from '../../src/polling/gaps/classify-gap.js';
import { HookHistory } from '../../src/polling/gaps/hook-history.js';
import { GapKeeper } from '../../src/polling/gaps/gap-keeper.js';
import { aDelivery, anEntry, anEvent } from '../builders/arrivals.js';
import { ManualClock } from '../fakes/manual-clock.js';

/** The gap ledger and what keeps it, over a store. */
export function gapStoreSuite(open: () => Promise<Stores>): void {
  let stores: Stores;
  let clock: ManualClock;
  let raised: Set<string>;
  let hooks: OwnHook[] | null;
  let isHooked: boolean;

  beforeEach(async () => {
    stores = await open();
    clock = new ManualClock('2026-11-20T12:00:00Z');
    raised = new Set();
    hooks = null;
    isHooked = true;
  });

  const keeper = (): GapKeeper => {
    const alerts: Alerts = { raise: (key) => void raised.add(key), resolve: (key) => void raised.delete(key) };
    return new GapKeeper(
      aConfig({
        orgs: [{ forge: 'main', name: 'acme', feed: { everyS: 30, graceS: 120 }, hooks: isHooked ? [{}] : [] }],
      }),
      stores.gaps,
      stores.cursors,
      { read: async () => hooks && { hooks, at: clock.now() } },
      new HookHistory(stores.knownFacts),
      { serverOf: () => ({ product: 'gitea', version: '1.27.0' }) },
      { stretchOf: () => 1 },
      clock,
      silentLogger,
      alerts,
      new Metrics(),
    );
  };

  let n = 0;
  /** A row is read now, and tells an event of these kinds (none: it is closed). */
  async function readRow(...kinds: EventKind[]): Promise<{ entryKey: string; events: string[] }> {
    return readFrom('feed', kinds);
  }

  async function readFrom(
    source: EntrySource,
    kinds: readonly EventKind[],
  ): Promise<{ entryKey: string; events: string[] }> {
    n += 1;
    const entry = anEntry({ source, entryKey: String(n), readAt: clock.now() });
    await stores.inbox.storeEntries([entry]);
    const events = kinds.map((kind) =>
      anEvent({ kind, source, factKey: `${kind}|${n}`, factAt: clock.now(), data: { ref: 'refs/heads/dev' } }),
    );
    await decideBy(stores.inbox, entry.id, async (tx) => {
      if (events.length === 0) tx.close('decided', 'the row tells no repository');
      for (const event of events) {
        tx.insertEvent(event);
        tx.join(event.id);
      }
    });
    return { entryKey: entry.entryKey, events: events.map(({ id }) => id) };
  }

  /** A delivery comes, and is not decided. @returns its id */
  async function receive(): Promise<string> {
    const delivery = aDelivery({ receivedAt: clock.now() });
    await stores.inbox.storeDeliveries([delivery]);
    return delivery.id;
  }

  async function deliver(eventId: string): Promise<void> {
    await decideBy(stores.inbox, await receive(), (tx) => tx.join(eventId));
  }

  const gaps = async (): Promise<Array<Pick<Gap, 'kind' | 'class' | 'outcome' | 'entryKey'>>> =>
    (await stores.gaps.gaps({ limit: 100 }))
      .map(({ kind, class: why, outcome, entryKey }) => ({ kind, class: why, outcome, entryKey }))
      .reverse();

  it('tells a fact as a gap when no delivery told it in its grace, once', async () => {
    const row = await readRow('issue.opened');
    const both = keeper();
    clock.advance(119_000);
    await both.pass();
    expect(await gaps()).toEqual([]);

    clock.advance(2_000);
    await Promise.all([both.pass(), keeper().pass()]);
    await both.pass();

    expect(await gaps()).toEqual([
      { kind: 'issue.opened', class: 'unknown', outcome: 'repaired', entryKey: row.entryKey },
    ]);
    expect([...raised]).toContain('gaps/unknown/main/acme');
    const orgs = [
      { forge: 'main', org: 'acme' },
      { forge: 'main', org: 'quiet' },
    ];
    const [long, soon] = [new Date(0), new Date(clock.now().getTime() + 1)];
    const lost = async (since: Date): Promise<unknown> =>
      (await stores.gaps.arriving(orgs, since)).sort((a, b) => (a.org < b.org ? -1 : 1));
    expect(await lost(long)).toEqual([
      { forge: 'main', org: 'acme', last: null, unreported: 1 },
      { forge: 'main', org: 'quiet', last: null, unreported: 0 },
    ]);
    expect(await lost(soon)).toMatchObject([{ unreported: 0 }, { unreported: 0 }]);
  });

  it.each([
    ['asked for less', ['push'], ['issues', 'push'], 'not-subscribed'],
    ['asked for it', ['issues', 'push'], ['push'], 'unknown'],
  ])('classes a gap by the hook as it was at the time of the act: it %s', async (_what, then, now, expected) => {
    const hook = (events: string[]): OwnHook => ({ active: true, events, branchFilter: '' });
    hooks = [hook(then)];
    const { entryKey } = await readRow('issue.opened');
    clock.advance(31_000);
    await keeper().pass();
    expect(await gaps()).toEqual([]);

    hooks = [hook(now)];
    clock.advance(90_000);
    await keeper().pass();
    const later = await readRow('issue.opened');
    clock.advance(121_000);
    await keeper().pass();

    const other = expected === 'unknown' ? 'not-subscribed' : 'unknown';
    expect(await gaps()).toEqual([
      { kind: 'issue.opened', class: expected, outcome: 'repaired', entryKey },
      { kind: 'issue.opened', class: other, outcome: 'repaired', entryKey: later.entryKey },
    ]);
  });

  it('tells no gap of what a delivery told, before or within the grace', async () => {
    const { events } = await readRow('issue.opened');
    await deliver(events[0] ?? '');
    clock.advance(300_000);

    await keeper().pass();

    expect(await gaps()).toEqual([]);
    expect(await stores.gaps.waiting(clock.now(), 10)).toEqual([]);
  });

  it('tells no gap while a delivery that came within the grace waits to be decided', async () => {
    const { events } = await readRow('issue.opened');
    clock.advance(120_000);
    const delivery = await receive();
    clock.advance(60_000);
    await keeper().pass();
    expect(await gaps()).toEqual([]);

    await decideBy(stores.inbox, delivery, (tx) => tx.join(events[0] ?? ''));
    await keeper().pass();

    expect(await gaps()).toEqual([]);
    expect(await stores.gaps.waiting(clock.now(), 10)).toEqual([]);
  });

  it('tells a gap of a row beside which such a delivery told something else, and beside one that came after the grace', async () => {
    const { entryKey } = await readRow('issue.opened');
    const other = await readRow('issue.opened');
    const delivery = await receive();
    clock.advance(121_000);
    await keeper().pass();
    expect(await gaps()).toEqual([]);

    await decideBy(stores.inbox, delivery, (tx) => tx.join(other.events[0] ?? ''));
    await receive();
    await keeper().pass();

    expect(await gaps()).toEqual([{ kind: 'issue.opened', class: 'unknown', outcome: 'repaired', entryKey }]);
  });

  it('tells each missing event of one row, and only those', async () => {
    const { events, entryKey } = await readRow('push', 'tag.created');
    await deliver(events[0] ?? '');
    clock.advance(121_000);

    await keeper().pass();

    expect(await gaps()).toEqual([{ kind: 'tag.created', class: 'unknown', outcome: 'repaired', entryKey }]);
  });

  it('tells a row that made no event as seen and not representable', async () => {
    const { entryKey } = await readRow();
    clock.advance(121_000);

    await keeper().pass();

    expect(await gaps()).toEqual([{ kind: null, class: 'unknown', outcome: 'not-representable', entryKey }]);
  });

  it('tells a gap of what a list showed to have changed, and none of what showed nothing new', async () => {
    const { entryKey } = await readFrom('lists', ['issue.labeled']);
    await readFrom('lists', []);
    clock.advance(121_000);

    await keeper().pass();

    expect(await gaps()).toEqual([{ kind: 'issue.labeled', class: 'unknown', outcome: 'repaired', entryKey }]);
    expect(await stores.gaps.waiting(clock.now(), 10)).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['facts that no server delivers', () => readRow('repository.renamed', 'review.dismissed')],
    [
      'rows from before the first start',
      () => stores.inbox.storeEntries([anEntry({ readAt: clock.now() })], { reason: 'from before the first start' }),
    ],
    [
      'organizations without a webhook of ours',
      async () => {
        isHooked = false;
        await readRow('issue.opened');
      },
    ],
  ])('tells no gap of %s', async (_what, read) => {
    await read();
    clock.advance(121_000);

    await keeper().pass();

    expect(await gaps()).toEqual([]);
    expect([...raised]).toEqual([]);
    expect(await stores.gaps.waiting(clock.now(), 10)).toEqual([]);
  });

  it('says how late a delivery came after all, and ends the alert with the last of them', async () => {
    const key = 'gaps/unknown/main/acme';
    const rows = [await readRow('issue.opened'), await readRow('issue.opened')];
    const watch = keeper();
    clock.advance(121_000);
    await watch.pass();
    clock.advance(20_000);
    await deliver(rows[0]?.events[0] ?? '');
    await watch.pass();
    expect([...raised]).toContain(key);

    clock.advance(20_000);
    await deliver(rows[1]?.events[0] ?? '');
    await watch.pass();

    expect([...raised]).not.toContain(key);
    const found = await stores.gaps.gaps({ limit: 100 });
    expect(found.map(({ outcome, lateByS, entryKey }) => ({ outcome, lateByS, entryKey })).reverse()).toEqual([
      { outcome: 'late', lateByS: 141, entryKey: rows[0]?.entryKey },
      { outcome: 'late', lateByS: 161, entryKey: rows[1]?.entryKey },
    ]);
    const first = await stores.gaps.page({ visibility: null, limit: 1 });
    const second = await stores.gaps.page({ visibility: null, limit: 9, before: first.next ?? '' });
    expect([first.rows, second.rows, second.next]).toEqual([found.slice(0, 1), found.slice(1), null]);
  });

  it('ends the alert where another process saw that the delivery came', async () => {
    const { events } = await readRow('issue.opened');
    const watch = keeper();
    clock.advance(121_000);
    await watch.pass();
    await deliver(events[0] ?? '');
    await keeper().pass();

    await watch.pass();

    expect([...raised]).not.toContain('gaps/unknown/main/acme');
  });

  it('names the class by what the hook says and by when we were down', async () => {
    hooks = [{ active: true, events: ['issues', 'push'], branchFilter: 'main' }];
    const receiver = keeper();
    await receiver.beat();
    clock.advance(600_000);
    await readRow('issue.opened');
    await receiver.beat();
    clock.advance(60_000);
    await readRow('issue.opened');
    await readRow('release.published');
    await readRow('push');
    clock.advance(121_000);

    await keeper().pass();

    expect((await gaps()).map(({ class: why }) => why)).toEqual(['down', 'unknown', 'not-subscribed', 'branch-filter']);
  });

  it('is alarmed when rows come and deliveries do not, and no longer when one comes', async () => {
    const watching = keeper();
    await watching.pass();
    const { events } = await readRow('issue.opened');
    await watching.pass();
    expect([...raised]).toEqual([]);

    clock.advance(31_000);
    await watching.pass();
    expect([...raised]).toEqual(['webhooks.silent/main/acme']);

    await deliver(events[0] ?? '');
    await watching.pass();
    expect([...raised]).toEqual([]);
  });

  it('is not alarmed by a quiet weekend, nor by one lost delivery among others', async () => {
    const watching = keeper();
    for (let hour = 0; hour < 60; hour += 1) {
      clock.advance(3_600_000);
      await watching.pass();
    }
    expect([...raised]).toEqual([]);

    await readRow('issue.opened');
    const { events } = await readRow('issue.opened');
    clock.advance(1_000);
    await deliver(events[0] ?? '');
    clock.advance(60_000);
    await watching.pass();

    expect([...raised]).toEqual([]);
  });

  it('is alarmed by a poller that stands still', async () => {
    await stores.cursors.write('main', 'acme', 'feed', {});
    clock.setWall(new Date(Date.now() + 299_000).toISOString());
    await keeper().pass();
    expect([...raised]).toEqual([]);

    clock.advance(10_000);
    await keeper().pass();

    expect([...raised]).toEqual(['poller.stuck/main/acme']);
  });

  describe('receivers', () => {
    const at = (second: number): Date => new Date(Date.UTC(2026, 10, 20, 12, 0, second));

    it('keeps an outage when none was alive for longer than allowed, once for all of them', async () => {
      expect(await stores.gaps.beat(at(0), 15_000)).toBeNull();
      expect(await stores.gaps.beat(at(15), 15_000)).toBeNull();
      const told = await Promise.all([stores.gaps.beat(at(60), 15_000), stores.gaps.beat(at(60), 15_000)]);
      expect(await stores.gaps.beat(at(59), 15_000)).toBeNull();

      expect(told.filter((one) => one !== null)).toEqual([{ from: at(15), to: at(60) }]);
      expect(await stores.gaps.outages(at(60))).toEqual([{ from: at(15), to: at(60) }]);
      expect(await stores.gaps.outages(at(61))).toEqual([]);
    });
  });

  it('counts how each kind was told, by organization and time', async () => {
    const { events } = await readRow('issue.opened');
    await readRow('issue.opened');
    await deliver(events[0] ?? '');
    const alone = aDelivery();
    await stores.inbox.storeDeliveries([alone]);
    const labeled = anEvent({ kind: 'issue.labeled', factKey: 'l' });
    await decideBy(stores.inbox, alone.id, async (tx) => {
      tx.insertEvent(labeled);
      tx.join(labeled.id);
    });
    const now = Date.now();
    const span = {
      orgs: ['acme', 'none'],
      visibility: null,
      from: new Date(now - 3_600_000),
      until: new Date(now + 3_600_000),
    };

    const covered = await stores.gaps.coverage(span);

    expect(covered.sort((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual([
      { org: 'acme', kind: 'issue.labeled', both: 0, webhook: 1, rows: 0 },
      { org: 'acme', kind: 'issue.opened', both: 1, webhook: 0, rows: 1 },
    ]);
    expect(await stores.gaps.coverage({ ...span, orgs: ['other'] })).toEqual([]);
    expect(await stores.gaps.coverage({ ...span, visibility: [{ org: 'acme', repositories: ['99'] }] })).toEqual([]);
    expect(await stores.gaps.coverage({ ...span, from: span.until, until: new Date(now + 7_200_000) })).toEqual([]);
  });
}
