import { In } from 'typeorm';
import type { Arrival } from '../core/arrival.js';
import type { ArchiveStore } from '../housekeeping/archive-store.port.js';
import { toArrival } from './rows.js';
import { execute, executePlanned, type Database } from './database.js';
import { ArrivalEntity } from './entities/arrival.entity.js';

const OLDEST = `SELECT id FROM arrivals WHERE archived_at IS NULL AND state <> 'stored' AND arrived_at < $1::timestamptz ORDER BY arrived_at LIMIT $2`;
const GIVE_UP = `
UPDATE arrivals SET body = '', archived_at = clock_timestamp()
WHERE id = ANY ($1::text[]) AND archived_at IS NULL AND state <> 'stored'`;
const PUT_BACK = `UPDATE arrivals SET body = $2, archived_at = NULL WHERE id = $1 AND archived_at IS NOT NULL AND coalesce(text_hash, $3) = $3`;

export class SqlArchiveStore implements ArchiveStore {
  constructor(private readonly db: Database) {}

  async oldest(before: Date, limit: number): Promise<Arrival[]> {
    return this.db.run(async (manager) => {
      const ids = (await executePlanned<{ id: string }>(manager, OLDEST, [before, limit])).rows.map(({ id }) => id);
      const rows = await manager.find(ArrivalEntity, {
        where: { id: In(ids) },
        order: { arrivedAt: 'ASC', id: 'ASC' },
      });
      return rows.map(toArrival);
    });
  }

  async giveUp(ids: readonly string[]): Promise<number> {
    return this.db.run(async (manager) => (await execute(manager, GIVE_UP, [ids])).affected);
  }

  async keep(arrival: Arrival): Promise<void> {
    await this.db.run((manager) =>
      manager.createQueryBuilder().insert().into(ArrivalEntity).values(keptRow(arrival)).orIgnore().execute(),
    );
  }

  async putBack(arrival: Arrival): Promise<boolean> {
    const params = [arrival.id, bodyOf(arrival), Buffer.from(arrival.textHash, 'hex')];
    return this.db.run(async (manager) => (await execute(manager, PUT_BACK, params)).affected === 1);
  }
}

function bodyOf(arrival: Arrival): Buffer {
  return arrival.kind === 'delivery' ? arrival.body : Buffer.from(arrival.text);
}

function keptRow(arrival: Arrival): Partial<ArrivalEntity> {
  const { id, kind, forge, org, textHash } = arrival;
  const shared = {
    id,
    kind,
    forge,
    org,
    textHash: Buffer.from(textHash, 'hex'),
    body: bodyOf(arrival),
    state: 'decided' as const,
    reason: 'it was restored, and is older than what is decided',
    code: 'history',
    repeats: 0,
  };
  if (arrival.kind === 'entry') {
    const { source, entryKey, readAt } = arrival;
    // No gap comes of it: it is matched.
    return { ...shared, source, entryKey, arrivedAt: readAt, matchedAt: readAt };
  }
  const { hook, eventType, event, deliveryId, targetType, contentType, verdict, receivedAt } = arrival;
  const metadata = { hook, eventType, event, deliveryId, targetType, contentType, verdict };
  return { ...shared, ...metadata, source: 'webhook', arrivedAt: receivedAt };
}
