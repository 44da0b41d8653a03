import type { EntityManager } from 'typeorm';
import { sourceOf, type Arrival } from '../core/arrival.js';
import { withTold } from '../core/event-knowledge.js';
import { madeAtMs } from '../core/ids.js';
import type { ForgeEvent } from '../core/event.js';
import { type JsonObject, isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import {
  keyOfObject,
  keyOfText,
  MOST_CANDIDATES,
  OPEN_TO,
  REPORTED_BY,
  type ArrivalBatch,
  type ArrivalNews,
  type BatchFacts,
  type BatchNeeds,
  type FoundEvent,
  type KnownObject,
  type NewEvent,
  type TextAct,
} from '../pipeline/inbox-store.port.js';
import { Packed, columnsOf, integers } from './parameters.js';
import { lockKeyOf } from './columns.js';
import { execute } from './database.js';
import {
  COUNT_REPEATS,
  EVENT_COLUMNS,
  FIND_ACTS,
  FIND_OBJECTS,
  FIND_REPORTED,
  FIND_TOUCHED,
  LOCK_STORED,
  RECEIVED_BETWEEN,
  WRITE_DECISIONS,
} from './inbox-statements.js';
import { deciderColumns, deciderId, effectHash, insertPlainRuns } from './journal-decisions.js';
import { arrivalRows, factHash, objectHash, toArrival } from './rows.js';

const LOCK_ALL =
  'SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest($1::bigint[]) WITH ORDINALITY AS k (key, place) ORDER BY place) AS keys';
const MOST_ROWS = 1_000_000;
/** Texts beyond this are not held in memory together to decide about them in one transaction. */
const MOST_BYTES = 1024 * 1024;

type FoundAct = Pick<TextAct, 'id'> & { place: number } & {
  [key in Exclude<keyof TextAct, 'id'>]: TextAct[key] | null;
};

/** A batch in PostgreSQL: each step is one statement, or a few, however many arrivals there are. */
export class SqlArrivalBatch implements ArrivalBatch {
  constructor(private readonly manager: EntityManager) {}

  async claim(ids: readonly string[]): Promise<Arrival[]> {
    const { rows } = await execute<Record<string, unknown>>(this.manager, LOCK_STORED, [ids, MOST_BYTES]);
    return rows.map((row) => toArrival(arrivalRows.decode(row)));
  }

  async load(needs: BatchNeeds): Promise<BatchFacts> {
    const locks = locksOf(needs);
    if (locks.length > 0) await execute(this.manager, LOCK_ALL, [locks]);
    return {
      facts: await this.eventsOf(needs),
      objects: await this.objectsOf(needs),
      texts: await this.actsOf(needs),
      ...(await this.touchedOf(needs)),
    };
  }

  private async eventsOf({ org, facts }: BatchNeeds): Promise<FoundEvent[][]> {
    const events: FoundEvent[][] = facts.map(() => []);
    if (facts.length === 0) return events;
    const { rows } = await execute<FoundEvent & { place: number; data: string }>(this.manager, FIND_REPORTED, [
      facts.map(({ forge, factKey }) => factHash(forge, factKey)),
      facts.map(({ source }) => `{${(OPEN_TO[REPORTED_BY[source]] ?? []).join(',')}}`),
      facts.map(({ forge, discussionKey }) => (discussionKey === undefined ? null : factHash(forge, discussionKey))),
      MOST_CANDIDATES,
      org,
    ]);
    for (const { place, data, ...event } of rows) events[place - 1]?.push({ ...event, data: objectIn(data) ?? {} });
    return events;
  }

  private async objectsOf({ org, objects }: BatchNeeds): Promise<KnownObject[]> {
    if (objects.length === 0) return [];
    const keys = objects.map(({ forge, object }) => ({
      forge,
      ...object,
      objectHash: objectHash(forge, object),
    }));
    const { rows } = await execute<{ state: string | null; isOpen: boolean }>(this.manager, FIND_OBJECTS, [
      ...columnsOf(keys, ['forge', 'repoId', 'kind', 'objectId', 'objectHash'] as const),
      org,
    ]);
    return rows.map(({ state, isOpen }) => ({ state: state === null ? null : objectIn(state), isOpen }));
  }

  private async touchedOf({ org, effects, orderKeys }: BatchNeeds): Promise<Pick<BatchFacts, 'effects' | 'orderKeys'>> {
    if (effects.length + orderKeys.length === 0) return { effects: [], orderKeys: [] };
    const { rows } = await execute<{ isKnown: boolean }>(this.manager, FIND_TOUCHED, [
      [...effects.map((key) => effectHash(key)), ...orderKeys.map(() => null)],
      [...effects.map(() => null), ...orderKeys],
      org,
    ]);
    const answers = rows.map(({ isKnown }) => isKnown);
    return { effects: answers.slice(0, effects.length), orderKeys: answers.slice(effects.length) };
  }

  private async actsOf({ texts }: BatchNeeds): Promise<Array<TextAct | null>> {
    if (texts.length === 0) return [];
    const acts: Array<TextAct | null> = texts.map(() => null);
    const { rows } = await execute<FoundAct>(this.manager, FIND_ACTS, [...halvesOf(texts.map(({ key }) => key))]);
    for (const { place, id, hook, deliveryId, receivedAt } of rows)
      acts[place - 1] = {
        id,
        hook: hook ?? '',
        deliveryId: deliveryId ?? '',
        receivedAt: receivedAt ?? new Date(madeAtMs(id) ?? 0),
      };
    return acts;
  }

  async receivedBetween(
    first: TextAct,
    arrival: Arrival,
    factKeys: readonly string[],
  ): Promise<'opposite' | 'undecided' | 'nothing'> {
    const values = [first.id, arrival.id, first.hook, factKeys];
    const { rows } = await execute<{ opposite: boolean; undecided: boolean }>(this.manager, RECEIVED_BETWEEN, values);
    return rows[0]?.opposite ? 'opposite' : rows[0]?.undecided ? 'undecided' : 'nothing';
  }

  async write(all: readonly ArrivalNews[]): Promise<void> {
    const joins = all.flatMap(({ arrival, joined }) =>
      joined.map((eventId) => ({ arrivalId: arrival.id, eventId, source: sourceOf(arrival) })),
    );
    const reportedBy = new Map<string, number>();
    for (const { eventId, source } of joins)
      reportedBy.set(eventId, (reportedBy.get(eventId) ?? 0) | REPORTED_BY[source]);
    const [repos, data] = [new Packed(), new Packed()];
    const events = all.flatMap(({ made }) => made.map((one) => eventRow(one, reportedBy)));
    for (const event of events) {
      repos.add(Buffer.from(event.repo));
      data.add(Buffer.from(event.data));
    }
    const [counted, countedRest] = halvesOf(all.map(({ claimed }) => claimed?.key ?? null));
    await execute(this.manager, WRITE_DECISIONS, [
      ...columnsOf(events, EVENT_COLUMNS),
      integers(repos.starts),
      integers(data.starts),
      ...columnsOf(joins, ['arrivalId', 'eventId', 'source'] as const),
      [...reportedBy.keys()],
      [...reportedBy.values()],
      ...columnsOf(stateRows(all), ['forge', 'org', 'repoId', 'kind', 'objectId', 'state'] as const),
      ...columnsOf(
        all.map(({ arrival, closed, joined }) => ({
          arrivalId: arrival.id,
          state: closed?.state ?? (joined.length > 0 ? 'decided' : null),
          reason: closed?.reason ?? null,
          code: closed?.code ?? null,
          eventId: joined[0] ?? null,
        })),
        ['arrivalId', 'state', 'reason', 'code', 'eventId'] as const,
      ),
      MOST_ROWS,
      all.map(({ claimed }) => claimed?.eventType ?? null),
      counted,
      all.map(({ arrival }) => Buffer.from(arrival.textHash, 'hex')),
      all.map(({ countedWith }) => countedWith !== null),
      repos.bytes,
      integers(repos.lengths),
      data.bytes,
      integers(data.lengths),
      ...deciderColumns(all.flatMap(({ made }) => made.map(({ decision }) => decision?.by))),
      countedRest,
    ]);
    const repeats = new Map<string, number>();
    for (const { countedWith } of all)
      if (countedWith !== null) repeats.set(countedWith, (repeats.get(countedWith) ?? 0) + 1);
    if (repeats.size > 0)
      await execute(this.manager, COUNT_REPEATS, [[...repeats.keys()], [...repeats.values()], MOST_ROWS]);
    // Rare: a delivery that came after polling had seen its act.
    for (const { eventId, details, from } of all.flatMap((decision) => decision.additions))
      await changeEvent(this.manager, eventId, (event) => withTold(event, details, from));
    await insertPlainRuns(
      this.manager,
      all.flatMap(({ made }) => made.flatMap(({ decision }) => decision?.runs ?? [])),
    );
  }
}

/** The first two quarters of hashes in hex, as the columns `key` and `rest` of `repeats`. */
function halvesOf(hashes: ReadonlyArray<string | null>): [key: Array<string | null>, rest: Array<string | null>] {
  const quarter = (n: number): Array<string | null> =>
    hashes.map((hash) => hash && BigInt.asIntN(64, BigInt(`0x${hash.slice(n * 16, n * 16 + 16)}`)).toString());
  return [quarter(0), quarter(1)];
}

/** All locks of a batch at once, in one order: two batches cannot wait for each other. */
function locksOf({ facts, objects, texts }: BatchNeeds): string[] {
  const keys = [
    ...facts.flatMap(({ forge, factKey, discussionKey }) =>
      [factKey, ...(discussionKey === undefined ? [] : [discussionKey])].map((key) => [forge, key] as const),
    ),
    ...objects.map(({ forge, object }) => [forge, keyOfObject(object)] as const),
    ...texts.map(({ forge, key }) => [forge, keyOfText(key)] as const),
  ];
  return [...new Set(keys.map(([forge, key]) => lockKeyOf('fact', forge, key)))].sort();
}

/** Under the lock of its row, so that nothing that is learned at the same time is lost. */
export async function changeEvent(
  manager: EntityManager,
  eventId: string,
  change: (event: Pick<ForgeEvent, 'actor' | 'repo' | 'data'>) => Pick<ForgeEvent, 'actor' | 'repo' | 'data'>,
): Promise<void> {
  const { rows } = await execute<{ actor: string; repo: string; data: string }>(
    manager,
    'SELECT actor, repo, data FROM events WHERE id = $1 FOR NO KEY UPDATE',
    [eventId],
  );
  const [row] = rows;
  if (!row) return;
  const { actor, repo, data } = change({
    actor: parseJson(row.actor) as unknown as ForgeEvent['actor'],
    repo: parseJson(row.repo) as unknown as ForgeEvent['repo'],
    data: objectIn(row.data) ?? {},
  });
  await execute(manager, 'UPDATE events SET actor = $2, repo = $3, data = $4 WHERE id = $1', [
    eventId,
    stringifyJson(actor),
    stringifyJson(repo),
    stringifyJson(data),
  ]);
}

function eventRow({ event, discussionKey, object, decision }: NewEvent, reportedBy: ReadonlyMap<string, number>) {
  return {
    ...event,
    factHash: factHash(event.forge, event.factKey),
    actor: stringifyJson(event.actor),
    repo: stringifyJson(event.repo),
    repoId: event.repo?.id ?? null,
    data: stringifyJson(event.data),
    discussionHash: discussionKey === undefined ? null : factHash(event.forge, discussionKey),
    objectHash: objectHash(event.forge, object),
    reportedBy: reportedBy.get(event.id) ?? 0,
    decidedBy: decision && deciderId(decision.by),
  };
}

/** Of states of one object the last. */
function stateRows(all: readonly ArrivalNews[]) {
  const rows = all.flatMap(({ arrival: { org }, objectStates }) =>
    objectStates.map(({ forge, object, state }) => ({ forge, org, ...object, state: stringifyJson(state) })),
  );
  return [...new Map(rows.map((row) => [`${row.forge}\n${keyOfObject(row)}`, row])).values()];
}

function objectIn(text: string): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}
