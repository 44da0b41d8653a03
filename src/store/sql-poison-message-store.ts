import type {
  BeginWork,
  PoisonMessage,
  PoisonMessageStore,
  WatchedTopic,
} from '../pipeline/poison-message-store.port.js';
import type { Visibility } from '../core/visibility.js';
import { execute, type Database } from './database.js';
import { placesFrom, visibilityValues, tellsArrival, tellsEvent } from './visibility-statements.js';

const MS = (parameter: string): string => `${parameter}::double precision * interval '1 millisecond'`;

/** A row that is there when work begins, and whose lease ran out, was left by a process that died. */
const BEGIN = `
INSERT INTO work_in_progress (topic, id, owner, lease_until, deaths)
SELECT $1, n.id, $3, clock_timestamp() + ${MS('$4')}, 0 FROM unnest($2::text[]) AS n (id) ORDER BY n.id
ON CONFLICT (topic, id) DO NOTHING
RETURNING id, deaths`;

const BEGIN_AGAIN = `
UPDATE work_in_progress w SET owner = $3, lease_until = clock_timestamp() + ${MS('$4')}, deaths = w.deaths + 1
WHERE w.topic = $1 AND w.id = ANY ($2) AND NOT w.quarantined AND w.lease_until <= clock_timestamp() AND ($5 > w.deaths OR w.deaths >= 2)
RETURNING w.id, w.deaths`;

const RENEW = `UPDATE work_in_progress SET lease_until = clock_timestamp() + ${MS('$4')} WHERE topic = $1 AND id = ANY ($2) AND owner = $3`;
const END = `DELETE FROM work_in_progress WHERE topic = $1 AND id = ANY ($2) AND owner = $3 AND NOT quarantined`;
const LIST = (which: string): string => `
SELECT w.topic, w.id, w.deaths, w.quarantined AS "isQuarantined", w.began_at AS since FROM work_in_progress w WHERE w.quarantined ${which} ORDER BY w.began_at LIMIT $1`;
const LIST_ALL = LIST('');
const LIST_VISIBLE = LIST(`AND CASE w.topic
  WHEN 'arrival' THEN EXISTS (SELECT 1 FROM arrivals a WHERE a.id = w.id AND ${tellsArrival('a', placesFrom(2))} OFFSET 0)
  ELSE EXISTS (SELECT 1 FROM events e WHERE e.id = w.id AND ${tellsEvent('e', placesFrom(2))} OFFSET 0) END`);

const LEAVE_ALONE: Readonly<Record<WatchedTopic, string>> = {
  arrival: `UPDATE arrivals SET state = 'quarantined', reason = $2, code = 'processes_ended' WHERE id = $1 AND state = 'stored'`,
  event:
    'UPDATE events SET decided_at = clock_timestamp() WHERE id = $1 AND decided_at IS NULL AND $2::text IS NOT NULL',
};
const TAKE_UP: Readonly<Record<WatchedTopic, string>> = {
  arrival: `
UPDATE arrivals SET state = 'stored', reason = NULL, code = NULL, age_accepted_at = CASE WHEN code = 'act_too_old' THEN clock_timestamp() ELSE age_accepted_at END
WHERE id = $1 AND state = 'quarantined' AND archived_at IS NULL`,
  event: 'UPDATE events SET decided_at = NULL WHERE id = $1',
};

type Began = Pick<PoisonMessage, 'id' | 'deaths'>;

/** What ended processes, in PostgreSQL. */
export class SqlPoisonMessageStore implements PoisonMessageStore {
  constructor(private readonly db: Database) {}

  async begin({ topic, ids, owner, leaseMs, dares }: BeginWork): Promise<ReadonlyMap<string, number>> {
    return this.db.run(async (manager) => {
      const begun = await execute<Began>(manager, BEGIN, [topic, ids, owner, leaseMs]);
      const deaths = new Map(begun.rows.map(({ id, deaths: count }) => [id, count]));
      const there = ids.filter((id) => !deaths.has(id));
      const again =
        there.length > 0 ? await execute<Began>(manager, BEGIN_AGAIN, [topic, there, owner, leaseMs, dares]) : null;
      for (const { id, deaths: count } of again?.rows ?? []) deaths.set(id, count);
      return deaths;
    });
  }

  async renew(topic: WatchedTopic, ids: readonly string[], owner: string, leaseMs: number): Promise<void> {
    await this.db.run((manager) => execute(manager, RENEW, [topic, ids, owner, leaseMs]));
  }

  async end(topic: WatchedTopic, ids: readonly string[], owner: string): Promise<void> {
    await this.db.run((manager) => execute(manager, END, [topic, ids, owner]));
  }

  async quarantine(topic: WatchedTopic, id: string, reason: string): Promise<void> {
    await this.db.transaction(
      async (manager) => {
        await execute(manager, LEAVE_ALONE[topic], [id, reason]);
        await execute(manager, 'UPDATE work_in_progress SET quarantined = true WHERE topic = $1 AND id = $2', [
          topic,
          id,
        ]);
      },
      async () => undefined,
    );
  }

  async quarantined(limit: number, visibility: Visibility = null): Promise<PoisonMessage[]> {
    const [sql, seen] = visibility === null ? [LIST_ALL, []] : [LIST_VISIBLE, visibilityValues(visibility)];
    return this.db.run(async (manager) => (await execute<PoisonMessage>(manager, sql, [limit, ...seen])).rows);
  }

  async release(id: string): Promise<boolean> {
    return this.db.transaction(
      async (manager) => {
        const sql = 'DELETE FROM work_in_progress WHERE id = $1 AND quarantined RETURNING topic';
        const { rows } = await execute<{ topic: WatchedTopic }>(manager, sql, [id]);
        for (const { topic } of rows) await execute(manager, TAKE_UP[topic], [id]);
        // An arrival may be quarantined for what it says: it is decided again by the same rules.
        return rows.length > 0 || (await execute(manager, TAKE_UP.arrival, [id])).affected > 0;
      },
      async () => undefined,
    );
  }
}
