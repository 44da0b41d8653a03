import { BotError } from '../core/errors.js';
import { execute, type Database } from './database.js';

/**
 * More than fits into the memory it is given, so that the store writes it into a temporary file beside its tables and takes the file away again:
 * nothing is left behind, and any user may do it.
 */
const SPILL = `SELECT count(*) FROM (SELECT n FROM generate_series(1, 20000) AS n ORDER BY md5(n::text) OFFSET 0) AS spilled`;

/** SQLSTATE disk_full. */
const DISK_FULL = '53100';

/** Whether the store finds room on its disk. */
export async function hasRoom(db: Database): Promise<boolean> {
  try {
    await db.transaction(async (manager) => {
      await execute(manager, `SET LOCAL work_mem = '64kB'`);
      await execute(manager, SPILL);
    });
    return true;
  } catch (error) {
    return !(error instanceof BotError && error.context.sqlState === DISK_FULL);
  }
}
