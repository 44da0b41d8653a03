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

  async putBack(arrival: Arrival): Promise<boolean> {
    const body = arrival.kind === 'delivery' ? arrival.body : Buffer.from(arrival.text);
    const params = [arrival.id, body, Buffer.from(arrival.textHash, 'hex')];
    return this.db.run(async (manager) => (await execute(manager, PUT_BACK, params)).affected === 1);
  }
}
