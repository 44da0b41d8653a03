import { StoreUnavailable } from '../core/errors.js';
import { execute, type Database } from './database.js';

/**
 * More than fits into the memory it is given, so that the store writes it into a temporary file beside its tables and takes the file away again:
 * nothing is left behind, and any user may do it.
 */
const SPILL = `SELECT count(*) FROM (SELECT n FROM generate_series(1, 20000) AS n ORDER BY md5(n::text) OFFSET 0) AS spilled`;

/** Whether the store, which answers otherwise, can write now. A full disk is one of the states in which it is not available (SQLSTATE class 53). */
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
