import { StoreUnavailable } from '../core/errors.js';
import { execute, type Database } from './database.js';

/** Sorts more than its memory holds, so that the store writes a temporary file beside its tables and removes it. Any database user may do this. */
const SPILL = `SELECT count(*) FROM (SELECT n FROM generate_series(1, 20000) AS n ORDER BY md5(n::text) OFFSET 0) AS spilled`;

/** Whether a store that answers can also write. A store on a full disk is not available for writes (SQLSTATE class 53). */
export async function hasRoom(db: Database): Promise<boolean> {
  try {
    await db.transaction(async (manager) => {
      await execute(manager, `SET LOCAL work_mem = '64kB'`);
      await execute(manager, SPILL);
    });
    return true;
  } catch (error) {
    return !(error instanceof StoreUnavailable);
  }
}
