import { decideBy } from '../../builders/decide-all.js';
import type { StoreConfig } from '../../../src/config/app-config.js';
import { newId } from '../../../src/core/ids.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { aDelivery, anEntry, anEvent } from '../../builders/arrivals.js';
import { aRun, anIntent, claimOne } from '../../builders/journal.js';

/** Those that `fill` puts something in. */
export const FILLED = [
  'arrivals',
  'events',
  'arrival_events',
  'runs',
  'intents',
  'attempts',
  'cursors',
  'ticks',
  'revisions',
  'pauses',
];
export const DELIVERIES = 40;

/** A store for the time of some work, its tables up to date. */
export async function using<T>(config: StoreConfig, work: (stores: Stores) => Promise<T>): Promise<T> {
  const stores = await openStores(config);
  try {
    await stores.migrate();
    return await work(stores);
  } finally {
    await stores.close();
  }
}

/** Something in the tables of a working bot, with what is hard to carry: any byte, any character, long rows, numbers beyond a double, nulls. */
export async function fill({ inbox, journal, cursors, ticks, revisions }: Stores): Promise<void> {
  const odd = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const deliveries = Array.from({ length: DELIVERIES }, () => aDelivery());
  const form = aDelivery({ contentType: 'form', body: odd, text: '{"a":"ä😀\\"\\\\,{}"}', targetType: null });
  const long = aDelivery({ body: Buffer.alloc(3_000_000, 'x'), text: 'x'.repeat(3_000_000) });
  await inbox.storeDeliveries([...deliveries, form, long]);
  await inbox.storeDeliveries([{ ...form, id: newId() }]);
  const entry = anEntry();
  await inbox.storeEntries([entry]);
  const events = [
    anEvent({ data: { id: 9007199254740993n, text: 'NULL,{"a\\b"}\u2028' } }),
    anEvent({ factKey: 'other' }),
  ];
  await decideBy(inbox, entry.id, async (tx) => {
    for (const event of events) {
      tx.insertEvent(event);
      tx.join(event.id);
    }
  });
  await journal.recordDecision({ eventId: events[0]?.id ?? '' }, [
    {
      run: aRun({ id: 'r' }),
      intents: [anIntent({ id: 'i', runId: 'r' }), anIntent({ id: 'j', runId: 'r', stepNo: 1 })],
    },
  ]);
  const claim = await claimOne(journal, 'i', 'me', 60_000);
  await journal.markSent('i', claim?.epoch ?? 0, { id: 'a', operation: 'createLabel', requestHash: 'hash' });
  await journal.pause({ org: 'acme', rule: null, by: 'ann', at: new Date() });
  await cursors.write('main', 'acme', 'feed', { newest: 9007199254740993n });
  await ticks.claim({
    id: newId(),
    forge: 'main',
    org: 'acme',
    schedule: 'nightly',
    occurrence: new Date('2026-11-20T02:00:00.123Z'),
  });
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

/** Every row of every table, as a digest of it. */
export async function contents({ dataSource }: Stores): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const named = `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT LIKE 'migrations%'`;
  for (const { name: table } of (await dataSource.query(named)) as Array<{ name: string }>) {
    const rows = (await dataSource.query(`SELECT md5(to_jsonb(t)::text) AS row FROM ${table} t`)) as Array<{
      row: string;
    }>;
    found[table] = rows.map(({ row }) => row).sort();
  }
  return found;
}
