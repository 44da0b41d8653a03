import type { EntityManager } from 'typeorm';
import type { EventSource, ForgeEvent } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import type { Arrival, ArrivalState } from '../inbox/arrival.js';
import type { ArrivalDecision, StatedObject, ToldEvent } from '../inbox/inbox-store.js';
import { columnsOf } from './batch.js';
import { execute } from './database.js';
import { factHash, objectHash } from './event-rows.js';
import type { FactLocks } from './fact-locks.js';

const FIND_STATE = 'SELECT state FROM object_states WHERE forge = $1 AND repo_id = $2 AND kind = $3 AND object_id = $4';
const MOST_CANDIDATES = 200;

/**
 * Bits of `events.told_by`: which classes of source have told it. What one alone has told is open to the other; what only the lists show is open to
 * both, and everything is open to them.
 */
const TOLD_BY_WEBHOOK = 1;
const TOLD_BY_POLL = 2;
const TOLD_BY_LISTS = 4;
const TOLD_BY: Readonly<Record<EventSource, number>> = { webhook: TOLD_BY_WEBHOOK, feed: TOLD_BY_POLL, tasks: TOLD_BY_POLL, lists: TOLD_BY_LISTS };
const OPEN_TO: Readonly<Record<number, readonly number[]>> = {
  [TOLD_BY_WEBHOOK]: [TOLD_BY_POLL, TOLD_BY_LISTS, TOLD_BY_POLL | TOLD_BY_LISTS],
  [TOLD_BY_POLL]: [TOLD_BY_WEBHOOK, TOLD_BY_LISTS, TOLD_BY_WEBHOOK | TOLD_BY_LISTS],
  [TOLD_BY_LISTS]: [1, 2, 3, 4, 5, 6, 7],
};

// The index leads to open events alone: of a fact told thousands of times by one source the next telling reads none.
const FIND_TOLD = `
SELECT id, kind, fact_key AS "factKey", fact_at AS "factAt", CASE WHEN talk_hash IS NULL THEN '{}' ELSE data END AS data,
       ARRAY(SELECT t.source FROM arrival_events t WHERE t.event_id = events.id ORDER BY t.seq) AS sources
FROM events
WHERE fact_hash = $1 AND told_by = ANY($2::smallint[]) OR talk_hash = $3::bytea
ORDER BY seq DESC
LIMIT $4`;

/**
 * All that a decision writes. What a statement inserts it does not see itself, so a new event bears from the start by whom it was told.
 */
const WRITE = `
WITH made AS (
  INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, talk_hash, object_hash, told_by)
  SELECT n.id, n.forge, n.org, n.kind, n.source, n.fact_key, n.fact_hash, n.fact_at, n.actor, n.repo, n.repo_id, n.data, n.stored_at, n.talk_hash, n.object_hash,
         CASE WHEN n.id = ANY ($2) THEN $4::integer ELSE 0 END
  FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::bytea[], $12::timestamptz[], $13::text[], $14::text[], $15::text[],
              $16::text[], $17::timestamptz[], $18::bytea[], $19::bytea[]) WITH ORDINALITY
    AS n (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, talk_hash, object_hash, place)
  ORDER BY n.place
), joined AS (
  INSERT INTO arrival_events (arrival_id, event_id, source)
  SELECT $1, j.event_id, $3 FROM unnest($2::text[]) WITH ORDINALITY AS j (event_id, place) ORDER BY j.place ON CONFLICT DO NOTHING
), told AS (
  UPDATE events SET told_by = told_by | $4::integer WHERE id = ANY ($2) AND told_by & $4::integer = 0
), kept AS (
  INSERT INTO object_states (forge, repo_id, kind, object_id, state)
  SELECT * FROM unnest($20::text[], $21::text[], $22::text[], $23::text[], $24::text[])
  ON CONFLICT (forge, repo_id, kind, object_id) DO UPDATE SET state = excluded.state, kept_at = clock_timestamp()
)
UPDATE arrivals SET state = coalesce($25, state), reason = coalesce($26, reason), event_id = coalesce(event_id, ($2::text[])[1]) WHERE id = $1`;

const EVENT_COLUMNS = [
  'id',
  'forge',
  'org',
  'kind',
  'source',
  'factKey',
  'factHash',
  'factAt',
  'actor',
  'repo',
  'repoId',
  'data',
  'storedAt',
  'talkHash',
  'objectHash',
] as const;

interface NewEvent {
  readonly event: ForgeEvent;
  readonly talkHash: Buffer | null;
  readonly objectHash: Buffer | null;
}

interface KeptState extends StatedObject {
  readonly forge: string;
  readonly state: string;
}

/**
 * What deciding about one arrival does, inside the transaction that holds its row. Locks are taken with the first read, and all is written
 * together: at the end, or before a read that has to see it.
 */
export class TypeOrmArrivalDecision implements ArrivalDecision {
  private made: NewEvent[] = [];
  private joined = new Set<string>();
  private kept = new Map<string, KeptState>();
  private closed: { state: ArrivalState; reason: string } | null = null;

  constructor(
    private readonly manager: EntityManager,
    readonly arrival: Arrival,
    private readonly locks: FactLocks,
  ) {}

  async lockFact(forge: string, factKey: string): Promise<void> {
    this.locks.ask(forge, factKey);
  }

  async eventsOfFact(forge: string, factKey: string, talkKey?: string): Promise<ToldEvent[]> {
    const talk = talkKey === undefined ? null : factHash(forge, talkKey);
    await this.beforeReading();
    const { rows } = await execute<Omit<ToldEvent, 'data'> & { data: string }>(this.manager, FIND_TOLD, [
      factHash(forge, factKey),
      OPEN_TO[TOLD_BY[this.source]],
      talk,
      MOST_CANDIDATES,
    ]);
    return rows.reverse().map((row) => ({ ...row, data: objectIn(row.data) ?? {} }));
  }

  async insertEvent(event: ForgeEvent, talkKey?: string, object?: StatedObject | null): Promise<void> {
    this.made.push({
      event,
      talkHash: talkKey === undefined ? null : factHash(event.forge, talkKey),
      objectHash: objectHash(event.forge, object),
    });
  }

  async objectState(forge: string, { repoId, kind, objectId }: StatedObject): Promise<JsonObject | null> {
    await this.beforeReading();
    const { rows } = await execute<{ state: string }>(this.manager, FIND_STATE, [forge, repoId, kind, objectId]);
    return rows[0] ? objectIn(rows[0].state) : null;
  }

  async keepObjectState(forge: string, { repoId, kind, objectId }: StatedObject, state: JsonObject): Promise<void> {
    this.kept.set([forge, repoId, kind, objectId].join('\n'), { forge, repoId, kind, objectId, state: stringifyJson(state) });
  }

  async join(eventId: string): Promise<void> {
    this.joined.add(eventId);
  }

  async close(state: ArrivalState, reason: string): Promise<void> {
    this.closed = { state, reason };
  }

  /** What was not written yet. */
  async write(): Promise<void> {
    const { made, joined, kept, closed } = this;
    await this.locks.take(this.manager);
    if (made.length + joined.size + kept.size === 0 && closed === null) return;
    const events = made.map(({ event, talkHash, objectHash: ofObject }) => ({
      ...event,
      factHash: factHash(event.forge, event.factKey),
      actor: stringifyJson(event.actor),
      repo: stringifyJson(event.repo),
      repoId: event.repo?.id ?? null,
      data: stringifyJson(event.data),
      talkHash,
      objectHash: ofObject,
    }));
    await execute(this.manager, WRITE, [
      this.arrival.id,
      [...joined],
      this.source,
      TOLD_BY[this.source],
      ...columnsOf(events, EVENT_COLUMNS),
      ...columnsOf([...kept.values()], ['forge', 'repoId', 'kind', 'objectId', 'state'] as const),
      closed?.state ?? (joined.size > 0 ? 'decided' : null),
      closed?.reason ?? null,
    ]);
    [this.made, this.joined, this.kept, this.closed] = [[], new Set(), new Map(), null];
  }

  private async beforeReading(): Promise<void> {
    await this.write();
  }

  private get source(): EventSource {
    return this.arrival.kind === 'delivery' ? 'webhook' : this.arrival.source;
  }
}

function objectIn(text: string): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}
