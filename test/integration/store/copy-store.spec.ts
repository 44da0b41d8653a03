import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { StoreConfig } from '../../../src/config/app-config.js';
import { newId } from '../../../src/core/ids.js';
import { Secret } from '../../../src/core/secret.js';
import { copyStore } from '../../../src/copy-store.js';
import { openStores } from '../../../src/store/open-stores.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { aDelivery, anEntry, anEvent } from '../../builders/arrivals.js';
import { aRun, anIntent } from '../../builders/journal.js';
import type { TestDatabase } from '../../services/test-stores.js';
import { createTestDatabase, describeOnPostgres, ensureEmbeddedTemplate } from '../../services/test-stores.js';

// Those that `fill` puts something in.
const FILLED = ['arrivals', 'events', 'arrival_events', 'runs', 'intents', 'attempts', 'cursors', 'ticks', 'revisions', 'pauses'];
const DELIVERIES = 40;
const LONG_MS = 120_000;

let dir: string;
let database: TestDatabase;
let embedded: StoreConfig;
let postgres: StoreConfig;

async function using<T>(config: StoreConfig, work: (stores: Stores) => Promise<T>): Promise<T> {
  const stores = await openStores(config);
  try {
    await stores.migrate();
    return await work(stores);
  } finally {
    await stores.close();
  }
}

/** Something in the tables of a working bot, with what is hard to carry: any byte, any character, long rows, numbers beyond a double, nulls. */
async function fill({ inbox, journal, cursors, ticks, revisions }: Stores): Promise<void> {
  const odd = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const deliveries = Array.from({ length: DELIVERIES }, () => aDelivery());
  const form = aDelivery({ contentType: 'form', body: odd, text: '{"a":"ä😀\\"\\\\,{}"}', targetType: null });
  const long = aDelivery({ body: Buffer.alloc(3_000_000, 'x'), text: 'x'.repeat(3_000_000) });
  await inbox.storeDeliveries([...deliveries, form, long]);
  await inbox.storeDeliveries([{ ...form, id: newId() }]);
  const entry = anEntry();
  await inbox.storeEntries([entry]);
  const events = [anEvent({ data: { id: 9007199254740993n, text: 'NULL,{"a\\b"}\u2028' } }), anEvent({ factKey: 'other' })];
  await inbox.decide(entry.id, async (tx) => {
    for (const event of events) {
      await tx.insertEvent(event);
      await tx.join(event.id);
    }
  });
  await journal.recordDecision({ eventId: events[0]?.id ?? '' }, [
    { run: aRun({ id: 'r' }), intents: [anIntent({ id: 'i', runId: 'r' }), anIntent({ id: 'j', runId: 'r', stepNo: 1 })] },
  ]);
  const claim = await journal.claim('i', 'me', 60_000);
  await journal.markSent('i', claim?.epoch ?? 0, { id: 'a', operation: 'createLabel', requestHash: 'hash' });
  await journal.pause({ org: 'acme', rule: null, by: 'ann', at: new Date() });
  await cursors.write('main', 'acme', 'feed', { newest: 9007199254740993n });
  await ticks.claim({ id: newId(), forge: 'main', org: 'acme', schedule: 'nightly', occurrence: new Date('2026-11-20T02:00:00.123Z') });
  await revisions.save({
    id: newId(),
    org: 'acme',
    hash: 'h',
    files: [{ path: 'a.yaml', text: 'version: 1\n' }],
    state: 'active',
    problems: [],
    loadedAt: new Date(),
  });
}

async function contents({ dataSource }: Stores): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const named = `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT LIKE 'migrations%'`;
  for (const { name: table } of (await dataSource.query(named)) as Array<{ name: string }>) {
    const rows = (await dataSource.query(`SELECT md5(to_jsonb(t)::text) AS row FROM ${table} t`)) as Array<{ row: string }>;
    found[table] = rows.map(({ row }) => row).sort();
  }
  return found;
}

describeOnPostgres('copy-store', () => {
  beforeEach(async () => {
    await ensureEmbeddedTemplate();
    dir = mkdtempSync(join(tmpdir(), 'fh-copy-'));
    database = await createTestDatabase();
    embedded = { kind: 'embedded', dir };
    postgres = { kind: 'postgres', url: new Secret(database.url) };
  }, LONG_MS);

  afterEach(async () => {
    await database.drop();
    rmSync(dir, { recursive: true, force: true });
  }, LONG_MS);

  it.each(['up', 'down'] as const)(
    'copies every row of every table: %s',
    async (way) => {
      const [from, to] = way === 'up' ? [embedded, postgres] : [postgres, embedded];
      await using(from, fill);

      const tables = await copyStore(from, to);

      const [before, after] = [await using(from, contents), await using(to, contents)];
      expect(after).toEqual(before);
      expect(Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))).toEqual(
        Object.fromEntries(Object.entries(before).map(([name, rows]) => [name, rows.length])),
      );
      expect(before['arrivals']).toHaveLength(DELIVERIES + 3);
      for (const name of FILLED) expect([name, before[name]?.length]).not.toEqual([name, 0]);
      // The copy is a store to go on with: order and uniqueness hold.
      await using(to, async ({ inbox, journal }) => {
        const late = aRun({ id: 'late' });
        await journal.recordDecision({}, [{ run: late, intents: [anIntent({ id: 'k', runId: 'late' })] }]);
        expect((await journal.runs({ limit: 9 })).map(({ id }) => id)).toEqual(['late', 'r']);
        expect((await inbox.dueArrivals(999)).length).toBe(DELIVERIES + 2);
      });
    },
    LONG_MS,
  );

  it(
    'writes nothing into a target that has rows, that a bot holds, or that is not there',
    async () => {
      await using(embedded, fill);
      await using(postgres, ({ cursors }) => cursors.write('main', 'acme', 'tasks', 1));

      await expect(copyStore(embedded, postgres)).rejects.toThrow(/the target is not empty \(table cursors has rows\)/);
      await expect(copyStore({ kind: 'embedded', dir: join(dir, 'nowhere') }, postgres)).rejects.toThrow(/there is no embedded store/);
      const bot = createServer();
      await new Promise<void>((resolve) => bot.listen(join(dir, 'run', 'control.sock'), resolve));
      await expect(copyStore(embedded, postgres)).rejects.toThrow(/a bot is running on this data already/);
      await new Promise((resolve) => bot.close(resolve));

      expect((await using(postgres, contents))['arrivals']).toEqual([]);
    },
    LONG_MS,
  );
});
