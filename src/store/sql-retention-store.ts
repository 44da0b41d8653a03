import type { RetentionStore } from '../housekeeping/retention-store.port.js';
import { firstIdAt } from '../core/ids.js';
import { execute, type Database } from './database.js';

const PAGES = `SELECT (pg_relation_size('repeats') / current_setting('block_size')::int)::int AS pages`;

/** The table has no index by time, which would be as large as the table. It lies in the order of time, so that it is read a stretch of pages at a time. */
const FORGET_REPEATS = `DELETE FROM repeats WHERE ctid >= $1::tid AND ctid < $2::tid AND arrival_id < $3::uuid`;
const PAGES_AT_ONCE = 50;

export class SqlRetentionStore implements RetentionStore {
  constructor(private readonly db: Database) {}

  async forgetRepeats(before: Date): Promise<number> {
    const { rows } = await this.db.run((manager) => execute<{ pages: number }>(manager, PAGES));
    let forgotten = 0;
    for (let page = 0; page < (rows[0]?.pages ?? 0); page += PAGES_AT_ONCE) {
      const stretch = [`(${page},0)`, `(${page + PAGES_AT_ONCE},0)`, `${firstIdAt(before)}-0000-0000-000000000000`];
      forgotten += (await this.db.run((manager) => execute(manager, FORGET_REPEATS, stretch))).affected;
    }
    return forgotten;
  }
}
