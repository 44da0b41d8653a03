import type { DataSource, MigrationInterface } from 'typeorm';
import { StoreForbidden, UserError } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { VERSION } from '../platform/version.js';
import { freeBytes, megabytes } from './disk.js';
import { lockKeyOf } from './columns.js';
import { statementsOf } from './migrations/statements.js';
import { toStoreError } from './store-errors.js';

const LOCK = lockKeyOf('forgehand', 'migrations');

/** Tables that a statement writes anew, in part or as a whole; what only changes the catalog takes no room. */
const WRITES_ROWS = [/\bUPDATE\s+(\w+)/gi, /\bCREATE\s+(?:UNIQUE\s+)?INDEX\s+\w+\s+ON\s+(\w+)/gi];
const WRITES_TABLE = [/\bALTER\s+TABLE\s+(\w+)\s[^;]*?\b(?:TYPE|PRIMARY\s+KEY|GENERATED)\b/gi];

interface MigrateOptions {
  /** On a server, where any number of processes may start at once. */
  readonly lock: boolean;
  readonly logger: Logger;
  /** The folder of an embedded store, whose disk must have the room. Null = the room is not known here. */
  readonly folder: string | null;
}

/**
 * Bring the tables up to date. On a server, any number of processes may start at once: the first migrates, the others wait for it
 * (TypeORM takes no lock of its own). Each migration commits on its own: what was interrupted goes on at the next start.
 * @param dataSource its own, without statement timeouts, with at least two connections on a server
 * @throws UserError STORE_IS_NEWER, STORE_IS_OLDER, NO_ROOM_TO_MIGRATE; nothing was changed
 */
export async function migrate(dataSource: DataSource, options: MigrateOptions): Promise<void> {
  if (!options.lock) return runMigrations(dataSource, options);
  const holder = dataSource.createQueryRunner();
  try {
    await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await runMigrations(dataSource, options);
    await holder.query('SELECT pg_advisory_unlock($1)', [LOCK]);
  } finally {
    await holder.release();
  }
}

/** Names of the migrations that the tables have, in their order; none where there are no tables. */
export async function appliedMigrations(ask: Pick<DataSource, 'query'>): Promise<string[]> {
  const [row] = await ask.query<Array<{ there: boolean }>>(`SELECT to_regclass('migrations') IS NOT NULL AS there`);
  if (!row?.there) return [];
  return (await ask.query<Array<{ name: string }>>('SELECT name FROM migrations ORDER BY id')).map(({ name }) => name);
}

/** @throws UserError STORE_IS_NEWER when the tables have a migration that this version does not know */
export function refuseNewer(dataSource: Pick<DataSource, 'migrations'>, applied: readonly string[]): void {
  const ownNames = new Set(dataSource.migrations.map(nameOf));
  const unknown = applied.find((name) => !ownNames.has(name));
  if (unknown === undefined) return;
  throw new UserError(
    'STORE_IS_NEWER',
    `the store's tables were made by a newer version (${unknown} is not known to ${VERSION}): start that version, or restore a backup that was made before the upgrade (forgehand restore)`,
  );
}

async function runMigrations(dataSource: DataSource, { logger, folder }: MigrateOptions): Promise<void> {
  const applied = await appliedMigrations(dataSource);
  refuseNewer(dataSource, applied);
  const pending = dataSource.migrations.filter((migration) => !applied.includes(nameOf(migration)));
  if (pending.length === 0) return;
  if (applied.length > 0) await foresee(dataSource, pending, { logger, folder });
  await changeTables(dataSource);
}

/** Say what is to be done and how much disk it takes at most. @throws UserError NO_ROOM_TO_MIGRATE */
async function foresee(
  dataSource: DataSource,
  pending: readonly MigrationInterface[],
  { logger, folder }: Pick<MigrateOptions, 'logger' | 'folder'>,
): Promise<void> {
  let bytes = 0;
  for (const migration of pending) bytes += await bytesWritten(dataSource, await statementsOf(migration));
  // What is written stands in the log too, until the next checkpoint.
  const needed = 2 * bytes;
  const free = folder === null ? null : await freeBytes(folder);
  logger.info(
    { pending: pending.length, first: pending[0] && nameOf(pending[0]), needed_bytes: needed, free_bytes: free },
    'store.migrating',
  );
  if (free !== null && needed > free)
    throw new UserError(
      'NO_ROOM_TO_MIGRATE',
      `${pending.length} migrations are pending, which take up to ${megabytes(needed)} MB of disk, and ${megabytes(free)} MB are free in ${folder}: make room, then start again`,
    );
}

async function bytesWritten(dataSource: DataSource, statements: readonly string[]): Promise<number> {
  const tables = (patterns: readonly RegExp[]): string[] =>
    statements.flatMap((text) =>
      patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, table = '']) => table.toLowerCase())),
    );
  const [row] = await dataSource.query<Array<{ bytes: string }>>(
    `SELECT coalesce((SELECT sum(pg_relation_size(to_regclass(name)) + pg_indexes_size(to_regclass(name))) FROM unnest($1::text[]) AS t (name)), 0)
          + coalesce((SELECT sum(pg_total_relation_size(to_regclass(name))) FROM unnest($2::text[]) AS t (name)), 0) AS bytes`,
    [tables(WRITES_ROWS), tables(WRITES_TABLE)],
  );
  return Number(row?.bytes ?? 0);
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
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
