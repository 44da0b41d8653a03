import type {
  BeginWork,
  PoisonMessage,
  PoisonMessageStore,
  WatchedTopic,
} from '../pipeline/poison-message-store.port.js';
import type { Sight } from '../core/sight.js';
import { BatchLoader, columnsOf } from './batch-loader.js';
import { execute, type Database } from './database.js';
import { placesFrom, sightValues, tellsArrival, tellsEvent } from './sight-statements.js';

const MS = (parameter: string): string => `${parameter}::double precision * interval '1 millisecond'`;

/** A row that is there when work begins, and whose lease ran out, was left by a process that died. */
const BEGIN = `
INSERT INTO work_in_progress (topic, id, owner, lease_until, deaths)
SELECT n.topic, n.id, n.owner, clock_timestamp() + ${MS('n.lease_ms')}, 0
FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[]) AS n (topic, id, owner, lease_ms) ORDER BY n.topic, n.id
ON CONFLICT (topic, id) DO NOTHING
RETURNING topic, id`;

const BEGIN_AGAIN = `
UPDATE work_in_progress w SET owner = n.owner, lease_until = clock_timestamp() + ${MS('n.lease_ms')}, deaths = w.deaths + 1
FROM (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[], $5::integer[]) LIMIT 1000000) AS n (topic, id, owner, lease_ms, dares)
WHERE w.topic = n.topic AND w.id = n.id AND NOT w.quarantined AND w.lease_until <= clock_timestamp() AND (n.dares > w.deaths OR w.deaths >= 2)
RETURNING w.topic, w.id, w.deaths`;

const RENEW = `UPDATE work_in_progress SET lease_until = clock_timestamp() + ${MS('$4')} WHERE topic = $1 AND id = $2 AND owner = $3`;
const END = `
DELETE FROM work_in_progress w USING (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) LIMIT 1000000) AS n (topic, id, owner)
WHERE w.topic = n.topic AND w.id = n.id AND w.owner = n.owner AND NOT w.quarantined`;
const LIST = (which: string): string => `
SELECT w.topic, w.id, w.deaths, w.quarantined AS "isQuarantined", w.began_at AS since FROM work_in_progress w WHERE w.quarantined ${which} ORDER BY w.began_at LIMIT $1`;
const LIST_ALL = LIST('');
const LIST_IN_SIGHT = LIST(`AND CASE w.topic
  WHEN 'arrival' THEN EXISTS (SELECT 1 FROM arrivals a WHERE a.id = w.id AND ${tellsArrival('a', placesFrom(2))})
  ELSE EXISTS (SELECT 1 FROM events e WHERE e.id = w.id AND ${tellsEvent('e', placesFrom(2))}) END`);

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

type Held = Pick<BeginWork, 'topic' | 'id' | 'owner'>;

function keyOf({ topic, id }: Pick<BeginWork, 'topic' | 'id'>): string {
  return `${topic}/${id}`;
}

/** What ended processes, in PostgreSQL. */
export class SqlPoisonMessageStore implements PoisonMessageStore {
  private readonly begins = new BatchLoader(
    () => this.db,
    (asks: readonly BeginWork[], db) => this.beginAll(asks, db),
  );
  private readonly ends = new BatchLoader(
    () => this.db,
    (asks: readonly Held[], db) => this.endAll(asks, db),
  );

  constructor(private readonly db: Database) {}

  async begin(work: BeginWork): Promise<number | null> {
    return this.begins.ask(work);
  }

  private async beginAll(asks: readonly BeginWork[], db: Database): Promise<Array<number | null>> {
    return db.run(async (manager) => {
      const begun = await execute<Pick<BeginWork, 'topic' | 'id'>>(
        manager,
        BEGIN,
        columnsOf(asks, ['topic', 'id', 'owner', 'leaseMs'] as const),
      );
      const deaths = new Map(begun.rows.map((row) => [keyOf(row), 0]));
      const there = asks.filter((ask) => !deaths.has(keyOf(ask)));
      if (there.length > 0) {
        const again = await execute<Pick<BeginWork, 'topic' | 'id'> & { deaths: number }>(
          manager,
          BEGIN_AGAIN,
          columnsOf(there, ['topic', 'id', 'owner', 'leaseMs', 'dares'] as const),
        );
        for (const row of again.rows) deaths.set(keyOf(row), row.deaths);
      }
      return asks.map((ask) => deaths.get(keyOf(ask)) ?? null);
    });
  }

  async renew(topic: WatchedTopic, id: string, owner: string, leaseMs: number): Promise<void> {
    await this.db.run((manager) => execute(manager, RENEW, [topic, id, owner, leaseMs]));
  }

  async end(topic: WatchedTopic, id: string, owner: string): Promise<void> {
    await this.ends.ask({ topic, id, owner });
  }

  private async endAll(asks: readonly Held[], db: Database): Promise<void[]> {
    await db.run((manager) => execute(manager, END, columnsOf(asks, ['topic', 'id', 'owner'] as const)));
    return asks.map(() => undefined);
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

  async quarantined(limit: number, sight: Sight = null): Promise<PoisonMessage[]> {
    const [sql, seen] = sight === null ? [LIST_ALL, []] : [LIST_IN_SIGHT, sightValues(sight)];
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
