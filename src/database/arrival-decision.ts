import type { EntityManager } from 'typeorm';
import type { ForgeEvent } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import type { Arrival, ArrivalState } from '../inbox/arrival.js';
import type { ArrivalDecision, StatedObject } from '../inbox/inbox-store.js';
import { execute } from './database.js';
import { EventEntity } from './entities/event.entity.js';
import { factHash, toEvent } from './event-rows.js';
import type { FactLocks } from './fact-locks.js';

const INSERT_EVENT = `
INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, talk_hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`;

const FIND_STATE = 'SELECT state FROM object_states WHERE forge = $1 AND repo_id = $2 AND kind = $3 AND object_id = $4';
const KEEP_STATE = `
INSERT INTO object_states (forge, repo_id, kind, object_id, state) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (forge, repo_id, kind, object_id) DO UPDATE SET state = excluded.state, kept_at = clock_timestamp()`;

const MOST_CANDIDATES = 200;

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

  async eventsOfFact(forge: string, factKey: string, talkKey?: string): ReturnType<ArrivalDecision['eventsOfFact']> {
    const ofFact = this.manager.createQueryBuilder(EventEntity, 'event').where('event.factHash = :hash', { hash: factHash(forge, factKey) });
    if (talkKey !== undefined) ofFact.orWhere('event.talkHash = :talk', { talk: factHash(forge, talkKey) });
    const events = (await ofFact.orderBy('event.seq', 'DESC').limit(MOST_CANDIDATES).getMany()).reverse();
    const ids = events.map((event) => event.id);
    const sql = `SELECT event_id AS "eventId", source, arrival_id AS "arrivalId" FROM arrival_events WHERE event_id = ANY ($1) ORDER BY seq`;
    const { rows } = await execute<{ eventId: string; source: ForgeEvent['source']; arrivalId: string }>(this.manager, sql, [ids]);
    return events.map((event) => ({
      event: toEvent(event),
      sources: rows.filter((row) => row.eventId === event.id).map(({ source, arrivalId }) => ({ source, arrivalId })),
    }));
  }

  async insertEvent(event: ForgeEvent, talkKey?: string): Promise<void> {
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
    ]);
  }

  async objectState(forge: string, { repoId, kind, objectId }: StatedObject): Promise<JsonObject | null> {
    const { rows } = await execute<{ state: string }>(this.manager, FIND_STATE, [forge, repoId, kind, objectId]);
    const state = rows[0] ? parseJson(rows[0].state) : null;
    return isJsonObject(state) ? state : null;
  }

  async keepObjectState(forge: string, { repoId, kind, objectId }: StatedObject, state: JsonObject): Promise<void> {
    await execute(this.manager, KEEP_STATE, [forge, repoId, kind, objectId, stringifyJson(state)]);
  }

  async join(eventId: string): Promise<void> {
    const source = this.arrival.kind === 'delivery' ? 'webhook' : this.arrival.source;
    await execute(this.manager, `INSERT INTO arrival_events (arrival_id, event_id, source) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, [
      this.arrival.id,
      eventId,
      source,
    ]);
    await execute(this.manager, `UPDATE arrivals SET state = 'decided', event_id = coalesce(event_id, $2) WHERE id = $1`, [this.arrival.id, eventId]);
  }

  async close(state: ArrivalState, reason: string): Promise<void> {
    await execute(this.manager, 'UPDATE arrivals SET state = $2, reason = $3 WHERE id = $1', [this.arrival.id, state, reason]);
  }
}
