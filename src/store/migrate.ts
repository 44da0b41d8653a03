import type { DataSource } from 'typeorm';
import { StoreForbidden, UserError } from '../core/errors.js';
import { lockKeyOf } from './keys.js';
import { MIGRATIONS } from './migrations/index.js';
import { toStoreError } from './store-errors.js';

const LOCK = lockKeyOf('forgehand', 'migrations');

/**
 * Bring the tables up to date. On a server, any number of processes may start at once: the first migrates, the others wait for it
 * (TypeORM takes no lock of its own).
 * @param dataSource its own, without statement timeouts, with at least two connections on a server
 * @throws UserError when the tables were made by a newer version
 */
export async function migrate(dataSource: DataSource, { lock }: { lock: boolean }): Promise<void> {
  if (!lock) return runMigrations(dataSource);
  const holder = dataSource.createQueryRunner();
  try {
    await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await runMigrations(dataSource);
    await holder.query('SELECT pg_advisory_unlock($1)', [LOCK]);
  } finally {
    await holder.release();
  }
}

async function runMigrations(dataSource: DataSource): Promise<void> {
  await changeTables(dataSource);
  const rows = (await dataSource.query('SELECT name FROM migrations')) as Array<{ name: string }>;
  const known = new Set(MIGRATIONS.map((migration) => migration.name));
  const foreign = rows.find((row) => !known.has(row.name));
  if (foreign) {
    throw new UserError(
      'STORE_IS_NEWER',
      `the store's tables were made by a newer version (${foreign.name} is not known here): start that version, or restore a backup`,
    );
  }
}

async function changeTables(dataSource: DataSource): Promise<void> {
  try {
    await dataSource.runMigrations({ transaction: 'each' });
  } catch (error) {
    if (!(toStoreError(error) instanceof StoreForbidden)) throw error;
    throw new UserError(
      'STORE_IS_OLDER',
      "the store's tables are not those of this version, and the database user of this process may not change them: start a worker or scheduler of this version first, then run deploy/receiver.sql again",
    );
  }
}
