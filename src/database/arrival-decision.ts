import type { EntityManager } from 'typeorm';
import type { EventSource, ForgeEvent } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import type { Arrival, ArrivalState } from '../inbox/arrival.js';
import type { ArrivalDecision, StatedObject, ToldEvent } from '../inbox/inbox-store.js';
import { execute } from './database.js';
import { factHash, objectHash } from './event-rows.js';
import type { FactLocks } from './fact-locks.js';

const INSERT_EVENT = `
INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, talk_hash, object_hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

const FIND_STATE = 'SELECT state FROM object_states WHERE forge = $1 AND repo_id = $2 AND kind = $3 AND object_id = $4';
const KEEP_STATE = `
INSERT INTO object_states (forge, repo_id, kind, object_id, state) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (forge, repo_id, kind, object_id) DO UPDATE SET state = excluded.state, kept_at = clock_timestamp()`;

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

const JOIN = `
WITH joined AS (INSERT INTO arrival_events (arrival_id, event_id, source) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING),
     told AS (UPDATE events SET told_by = told_by | $4 WHERE id = $2 AND told_by & $4 = 0)
UPDATE arrivals SET state = 'decided', event_id = coalesce(event_id, $2) WHERE id = $1`;

/** What deciding about one arrival does, inside the transaction that holds its row. */
export class TypeOrmArrivalDecision implements ArrivalDecision {
  constructor(
    private readonly manager: EntityManager,
    readonly arrival: Arrival,
    private readonly locks: FactLocks,
  ) {}

  async lockFact(forge: string, factKey: string): Promise<void> {
    await this.locks.take(this.manager, forge, factKey);
  }

  async eventsOfFact(forge: string, factKey: string, talkKey?: string): Promise<ToldEvent[]> {
    const talk = talkKey === undefined ? null : factHash(forge, talkKey);
    const { rows } = await execute<Omit<ToldEvent, 'data'> & { data: string }>(this.manager, FIND_TOLD, [
      factHash(forge, factKey),
      OPEN_TO[TOLD_BY[this.source]],
      talk,
      MOST_CANDIDATES,
    ]);
    return rows.reverse().map((row) => ({ ...row, data: objectIn(row.data) ?? {} }));
  }

  async insertEvent(event: ForgeEvent, talkKey?: string, object?: StatedObject | null): Promise<void> {
    await execute(this.manager, INSERT_EVENT, [
      event.id,
      event.forge,
      event.org,
      event.kind,
      event.source,
      event.factKey,
      factHash(event.forge, event.factKey),
      event.factAt,
      stringifyJson(event.actor),
      stringifyJson(event.repo),
      event.repo?.id ?? null,
      stringifyJson(event.data),
      event.storedAt,
      talkKey === undefined ? null : factHash(event.forge, talkKey),
      objectHash(event.forge, object),
    ]);
  }

  async objectState(forge: string, { repoId, kind, objectId }: StatedObject): Promise<JsonObject | null> {
    const { rows } = await execute<{ state: string }>(this.manager, FIND_STATE, [forge, repoId, kind, objectId]);
    return rows[0] ? objectIn(rows[0].state) : null;
  }

  async keepObjectState(forge: string, { repoId, kind, objectId }: StatedObject, state: JsonObject): Promise<void> {
    await execute(this.manager, KEEP_STATE, [forge, repoId, kind, objectId, stringifyJson(state)]);
  }

  async join(eventId: string): Promise<void> {
    await execute(this.manager, JOIN, [this.arrival.id, eventId, this.source, TOLD_BY[this.source]]);
  }

  async close(state: ArrivalState, reason: string): Promise<void> {
    await execute(this.manager, 'UPDATE arrivals SET state = $2, reason = $3 WHERE id = $1', [this.arrival.id, state, reason]);
  }

  private get source(): EventSource {
    return this.arrival.kind === 'delivery' ? 'webhook' : this.arrival.source;
  }
}

function objectIn(text: string): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}
