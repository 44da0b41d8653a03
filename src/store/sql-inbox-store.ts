import type { EntityManager } from 'typeorm';
import type { EventKind } from '../core/event-kinds.js';
import type { EntrySource, ForgeEvent } from '../core/event.js';
import { firstIdAt } from '../core/ids.js';
import type { Visibility } from '../core/visibility.js';
import type { Arrival, NewDelivery, NewEntry, Stored } from '../core/arrival.js';
import type {
  ArrivalBatch,
  ArrivalFilter,
  ArrivalOfEvent,
  ArrivalSummary,
  Backlog,
  HookBytes,
  InboxStore,
} from '../pipeline/inbox-store.port.js';
import { EARLIER_MS, EARLIER_PAGE } from '../pipeline/inbox-store.port.js';
import { knownEntryKey, toArrival, eventRows, factHash, toEvent } from './rows.js';
import { columnsOf, integers, Packed } from './parameters.js';
import { execute, executePlanned, type Database } from './database.js';
import { withRead } from '../core/event-knowledge.js';
import { changeEvent, SqlArrivalBatch } from './arrival-batch.js';
import { ArrivalEntity } from './entities/arrival.entity.js';
import {
  ARCHIVE,
  BACKLOG,
  CLAIM_EVENTS,
  DEAL_ARRIVALS,
  DUE_ARRIVALS,
  INSERT_DELIVERIES,
  INSERT_ENTRIES,
  LIST_ARRIVALS,
  LIST_ARRIVALS_VISIBLE,
  PUT_OFF_ARRIVALS,
  UNDECIDED_EVENTS,
  UNDECIDED_EVENTS_OF,
} from './inbox-statements.js';
import { placesFrom, visibilityValues, tellsArrival } from './visibility-statements.js';
import { StoreFailed } from './store-errors.js';

/** The key as the server writes a UUID. */
type StoredRow = { id: string; key: string };

const EVENTS = `SELECT ${eventRows.list('e')} FROM events e WHERE e.id = ANY ($1)`;

const TOLD_EARLIER = `
SELECT ${eventRows.list('o')} FROM events e JOIN events o ON o.fact_hash = e.fact_hash AND o.org = e.org AND o.seq < e.seq
WHERE e.id = $1 AND o.actor::json->>'id' = e.actor::json->>'id' AND o.stored_at > e.stored_at - $3::double precision * interval '1 millisecond'
  AND ($5::text IS NULL OR o.seq > (SELECT seq FROM events WHERE id = $5))
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.event_id = o.id AND r.rule = $2 AND r.reason_code = 'run.not-confirmed' OFFSET 0)
ORDER BY o.seq LIMIT $4`;

/** Ids tell the time: what an organization got last is at the end of its part of an index, and each row leads to its events by their keys. */
const REPOSITORIES_TOLD = `
SELECT DISTINCT t.repo_id AS id
FROM (SELECT id FROM arrivals WHERE lower(org) = lower($2) AND id >= $3 AND org = $2 AND forge = $1 AND kind = 'delivery') a
CROSS JOIN LATERAL (
  SELECT e.repo_id FROM arrival_events j JOIN events e ON e.id = j.event_id
  WHERE j.arrival_id = a.id AND e.kind = ANY ($4::text[]) AND e.repo_id IS NOT NULL OFFSET 0
) AS t`;

/** The inbox in PostgreSQL. */
export class SqlInboxStore implements InboxStore {
  /** @param acks connections that nothing else uses, so that a busy worker never delays an acknowledgement */
  constructor(
    private readonly db: Database,
    private readonly acks: Database = db,
  ) {}

  async storeDeliveries(batch: readonly NewDelivery[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      await this.acks.run((manager) => insertDeliveries(manager, batch), ownerOf(batch));
    } catch (error) {
      // Ids are made by us: one that is there was stored by a try whose answer was lost. A receiver may not look.
      if (!isKnownAlready(error)) throw error;
      if (batch.length > 1) for (const one of batch) await this.storeDeliveries([one]);
    }
  }

  async storeEntries(batch: readonly NewEntry[], closed?: { reason: string; code?: string }): Promise<Stored[]> {
    if (batch.length === 0) return [];
    const keys = batch.map(knownEntryKey);
    const groups = groupByKey(batch, keys);
    const idOf = await this.db.transaction(
      async (manager) => {
        const made = await insertEntries(manager, groups, closed);
        const idOfKey = new Map(groups.flatMap(({ key, first: { id } }) => (made.has(id) ? [[key, id] as const] : [])));
        const missing = groups.map(({ key }) => key).filter((key) => !idOfKey.has(key));
        for (const row of await findByKeys(manager, missing)) idOfKey.set(row.key, row.id);
        return idOfKey;
      },
      async () => undefined,
    );
    return answers(batch, keys, idOf);
  }

  async knownEntries(forge: string, org: string, source: EntrySource, keys: readonly string[]): Promise<Set<string>> {
    if (keys.length === 0) return new Set();
    const entryKeyOf = new Map(keys.map((entryKey) => [knownEntryKey({ forge, org, source, entryKey }), entryKey]));
    const rows = await this.db.run((manager) => findByKeys(manager, [...entryKeyOf.keys()]));
    return new Set(rows.map((row) => entryKeyOf.get(row.key) ?? ''));
  }

  async dueArrivals(
    limit: number,
    line?: { readonly org: string; readonly except: readonly string[] },
  ): Promise<string[]> {
    return line ? this.idsOf(DEAL_ARRIVALS, [limit, line.org, line.except]) : this.idsOf(DUE_ARRIVALS, [limit]);
  }

  async get(id: string): Promise<Arrival | null> {
    const row = await this.db.run((manager) => manager.findOneBy(ArrivalEntity, { id }));
    return row ? toArrival(row) : null;
  }

  async list(filter: ArrivalFilter): Promise<ArrivalSummary[]> {
    const { org, kind, limit, before, changed, visibility = null } = filter;
    const params = [org ?? null, kind ?? null, limit, before ?? null, changed ?? false];
    const [sql, seen] =
      visibility === null ? [LIST_ARRIVALS, []] : [LIST_ARRIVALS_VISIBLE, visibilityValues(visibility)];
    return this.db.run(
      async (manager) => (await executePlanned<ArrivalSummary>(manager, sql, [...params, ...seen])).rows,
    );
  }

  async inBatch<T>(work: (batch: ArrivalBatch) => Promise<T>): Promise<T> {
    return this.db.transaction((manager) => work(new SqlArrivalBatch(manager)));
  }

  async putOff(ids: readonly string[], ms: number): Promise<void> {
    await this.db.run((manager) => execute(manager, PUT_OFF_ARRIVALS, [ids, ms]));
  }

  async eventsOfArrival(arrivalId: string): Promise<string[]> {
    const sql = `SELECT event_id AS id FROM arrival_events WHERE arrival_id = $1 ORDER BY seq`;
    return this.db.run(async (manager) =>
      (await execute<{ id: string }>(manager, sql, [arrivalId])).rows.map((row) => row.id),
    );
  }

  async arrivalsOfEvent(eventId: string, visibility: Visibility = null): Promise<ArrivalOfEvent[]> {
    const which = visibility === null ? '' : `AND ${tellsArrival('a', placesFrom(2))}`;
    const sql = `SELECT a.id, t.source, a.arrived_at AS at, a.hook, a.delivery_id AS "deliveryId", a.repeats
      FROM arrival_events t JOIN arrivals a ON a.id = t.arrival_id WHERE t.event_id = $1 ${which} ORDER BY t.seq`;
    const params = [eventId, ...(visibility === null ? [] : visibilityValues(visibility))];
    return this.db.run(async (manager) => (await execute<ArrivalOfEvent>(manager, sql, params)).rows);
  }

  async event(id: string): Promise<ForgeEvent | null> {
    const { rows } = await this.db.run((manager) => execute<Record<string, unknown>>(manager, EVENTS, [[id]]));
    return rows[0] ? toEvent(eventRows.decode(rows[0])) : null;
  }

  async learn(eventId: string, facts: Pick<ForgeEvent, 'data' | 'repo'>): Promise<void> {
    const change = (manager: EntityManager): Promise<void> =>
      changeEvent(manager, eventId, (event) => withRead(event, facts));
    await this.db.transaction(change, async () => undefined);
  }

  async repositoriesTold(
    { forge, org }: { readonly forge: string; readonly org: string },
    kinds: readonly EventKind[],
    since: Date,
  ): Promise<string[]> {
    return this.idsOf(REPOSITORIES_TOLD, [forge, org, firstIdAt(since), kinds]);
  }

  async isStoredSince({ id, forge, org }: ForgeEvent, factKeys: readonly string[]): Promise<boolean> {
    const sql =
      'SELECT 1 FROM events WHERE fact_hash = ANY ($1) AND org = $2 AND seq > (SELECT seq FROM events WHERE id = $3) LIMIT 1';
    const hashes = factKeys.map((key) => factHash(forge, key));
    return (await this.db.run((manager) => execute(manager, sql, [hashes, org, id]))).rows.length > 0;
  }

  async toldEarlier(eventId: string, rule: string, after: string | null): Promise<ForgeEvent[]> {
    const values = [eventId, rule, EARLIER_MS, EARLIER_PAGE, after];
    const { rows } = await this.db.run((manager) => execute<Record<string, unknown>>(manager, TOLD_EARLIER, values));
    return rows.map((row) => toEvent(eventRows.decode(row)));
  }

  async archive(before: Date, limit: number): Promise<number> {
    return this.db.run(async (manager) => (await executePlanned(manager, ARCHIVE, [before, limit])).affected);
  }

  async undecidedEvents(limit: number, org?: string): Promise<string[]> {
    return org === undefined ? this.idsOf(UNDECIDED_EVENTS, [limit]) : this.idsOf(UNDECIDED_EVENTS_OF, [limit, org]);
  }

  async claimEvents(org: string, limit: number, except: readonly string[], leaseMs: number): Promise<ForgeEvent[]> {
    const values = [org, limit, except, leaseMs];
    const { rows } = await this.db.run((manager) => execute<Record<string, unknown>>(manager, CLAIM_EVENTS, values));
    return rows.map((row) => toEvent(eventRows.decode(row)));
  }

  private async idsOf(sql: string, params: readonly unknown[]): Promise<string[]> {
    const { rows } = await this.db.run((manager) => execute<{ id: string }>(manager, sql, params));
    return rows.map(({ id }) => id);
  }

  async backlog(visibility: Visibility = null): Promise<Backlog> {
    return this.db.run(
      async (manager) =>
        (await execute<Backlog>(manager, BACKLOG, visibilityValues(visibility))).rows[0] ?? { arrivals: 0, events: 0 },
    );
  }

  async undecidedBytes(): Promise<HookBytes[]> {
    return this.db.run(
      async (manager) => (await execute<HookBytes>(manager, `SELECT hook, bytes FROM undecided_bytes`)).rows,
    );
  }
}

interface Group<T> {
  key: string;
  first: T;
}

/**
 * The first of each key, in the order of the keys: batches that meet the same rows then lock them in the same order.
 * @param keys of the items, in their order
 */
function groupByKey<T>(batch: readonly T[], keys: readonly string[]): Array<Group<T>> {
  const groups = new Map<string, Group<T>>();
  for (const [index, first] of batch.entries()) {
    const key = keys[index] ?? '';
    if (!groups.has(key)) groups.set(key, { key, first });
  }
  return [...groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function answers<T extends { id: string }>(
  batch: readonly T[],
  keys: readonly string[],
  idOf: ReadonlyMap<string, string>,
): Stored[] {
  return batch.map((item, index) => {
    const id = idOf.get(keys[index] ?? '');
    if (id === undefined) throw new Error('an entry was neither stored nor found');
    return { id, duplicate: id !== item.id };
  });
}

const UNIQUE_VIOLATION = '23505';

/** A delivery that nobody has decided has one unique key alone, its id. */
function isKnownAlready(error: unknown): boolean {
  return error instanceof StoreFailed && error.context.sqlState === UNIQUE_VIOLATION;
}

/** What deliveries of one hook that tell the same kind of event have in common. */
const SHARED_COLUMNS = [
  'forge',
  'org',
  'hook',
  'eventType',
  'event',
  'targetType',
  'contentType',
  'verdict',
] as const satisfies ReadonlyArray<keyof NewDelivery>;

/** '' = several organizations. Said with the call, since a context of asynchronous work costs Node 20 a hook for each promise of the process. */
function ownerOf(batch: readonly NewDelivery[]): string {
  const org = batch[0]?.org ?? '';
  return batch.every((delivery) => delivery.org === org) ? org : '';
}

async function insertDeliveries(manager: EntityManager, batch: readonly NewDelivery[]): Promise<void> {
  const bodies = new Packed();
  for (const { body } of batch) bodies.add(body);
  const { firsts, places } = sharedOf(batch);
  await execute(manager, INSERT_DELIVERIES, [
    ...columnsOf(firsts, SHARED_COLUMNS),
    ...columnsOf(batch, ['id', 'deliveryId'] as const),
    batch.map(({ receivedAt }) => receivedAt.toISOString()),
    integers(places),
    integers(bodies.starts),
    integers(bodies.lengths),
    bodies.inPieces,
  ]);
}

/** The first delivery of each that share their columns, and for each delivery the place of that first, from 1. */
function sharedOf(batch: readonly NewDelivery[]): { firsts: readonly NewDelivery[]; places: readonly number[] } {
  const placeOf = new Map<string, number>();
  const firsts: NewDelivery[] = [];
  const places = batch.map((delivery) => {
    let key = '';
    for (const name of SHARED_COLUMNS) key += `${delivery[name] ?? NO_VALUE}\n`;
    const place = placeOf.get(key) ?? firsts.push(delivery);
    placeOf.set(key, place);
    return place;
  });
  return { firsts, places };
}

/** Stands for null, and is no value of a header. */
const NO_VALUE = '\0';

/** @returns ids of those that were not known */
async function insertEntries(
  manager: EntityManager,
  groups: ReadonlyArray<Group<NewEntry>>,
  closed: { reason: string; code?: string } | undefined,
): Promise<ReadonlySet<string>> {
  const bodies = new Packed();
  for (const { first } of groups) bodies.add(Buffer.from(first.text));
  const rows = groups.map(({ first }) => first);
  const { rows: made } = await execute<{ id: string }>(manager, INSERT_ENTRIES, [
    ...columnsOf(rows, ['id', 'forge', 'org', 'source', 'entryKey', 'readAt'] as const),
    groups.map(({ key }) => key),
    Buffer.from(rows.map((row) => row.textHash).join(''), 'hex'),
    bodies.bytes,
    bodies.starts,
    bodies.lengths,
    closed ? 'decided' : 'stored',
    closed?.reason ?? null,
    closed?.code ?? null,
  ]);
  return new Set(made.map(({ id }) => id));
}

async function findByKeys(manager: EntityManager, keys: readonly string[]): Promise<StoredRow[]> {
  if (keys.length === 0) return [];
  const sql = `SELECT key::text, arrival_id::text AS id FROM known_entries WHERE key = ANY ($1::uuid[])`;
  return (await execute<StoredRow>(manager, sql, [keys])).rows;
}
