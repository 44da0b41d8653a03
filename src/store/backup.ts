import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { AppConfig, StoreConfig } from '../config/app-config.js';
import { Encryptor } from '../core/encryptor.js';
import { UserError } from '../core/errors.js';
import { Secret } from '../core/secret.js';
import {
  type BackupHeader,
  type BackupPart,
  type HeaderFacts,
  type OpenedBackup,
  backupBytes,
  newer,
  openBackup,
  verifyBackup,
  writeNewFile,
} from './backup-file.js';
import type { CopiedTable } from './copy-store.js';
import { usingCopy } from './embedded/copy-files.js';
import { appliedMigrations, refuseNewer } from './migrate.js';
import { MIGRATIONS, type Migrations } from './migrations/index.js';
import { requireStore, withLock, withWholeStore } from './whole-store.js';
import {
  type Table,
  advanceSequences,
  holdTables,
  insertRows,
  refuseUnlessEmpty,
  rowsOf,
  sumOf,
  tablesOf,
  within,
} from './whole-tables.js';

export { verifyBackup };

/** What a store is written to, or read from. */
interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  readonly tables: readonly CopiedTable[];
}

export interface RestoreReport extends BackupReport {
  readonly header: BackupHeader;
  /** Migrations that ran after the rows were there. */
  readonly migrated: number;
  /** Whether the data key of the target is the one of the backup; `missing` = the target has none yet, `unknown` = one of them is not known here. */
  readonly dataKey: 'same' | 'other' | 'missing' | 'unknown';
}

interface BackupOptions {
  readonly progress: Told;
  readonly signal?: AbortSignal;
  /** A copy of the embedded store's files, as a running bot made it. Optional: without it, the store itself is read, and locked meanwhile. */
  readonly copy?: string | undefined;
}

/**
 * Write the store of a config into a new file.
 * @throws UserError ALREADY_RUNNING, NO_STORE, and what backUpTables throws
 */
export async function backUpStore(
  { store, keys, control }: Pick<AppConfig, 'store' | 'keys' | 'control'>,
  file: string,
  { progress, signal, copy }: BackupOptions,
): Promise<BackupReport> {
  const from: StoreConfig = copy !== undefined && store.kind === 'embedded' ? { ...store, dir: copy } : store;
  requireStore(from);
  const facts = { store: store.kind, dataKey: markOf(dataKeyOf(store, keys.data)), madeAt: new Date().toISOString() };
  const write = (): Promise<CopiedTable[]> =>
    withWholeStore(from, { isCopy: copy !== undefined }, ({ dataSource }) =>
      backUpTables(dataSource, file, facts, { progress, signal }),
    );
  const tables = await (copy === undefined
    ? withLock(from, control.socket ?? undefined, write)
    : usingCopy(copy, write));
  return { file, bytes: statSync(file).size, tables };
}

interface RestoreOptions {
  readonly progress: Told;
  readonly socket?: string | undefined;
  /** `keys.data` of the config, where there is one. */
  readonly dataKey: Secret | null;
  /** Those of this version. Default: all. */
  readonly migrations?: Migrations;
}

/**
 * Fill an empty store with a backup, all or nothing, and bring its tables up to date. The whole file is checked before anything is written.
 * @throws UserError BACKUP_IS_NEWER, ALREADY_RUNNING, and what verifyBackup, refuseAsTarget and restoreTables throw
 */
export async function restoreStore(
  file: string,
  to: StoreConfig,
  { progress, socket, dataKey, migrations: own = MIGRATIONS }: RestoreOptions,
): Promise<RestoreReport> {
  const { header } = await verifyBackup(file);
  if (header.migrations.some((name) => !own.some((migration) => migration.name === name)))
    throw newer(file, header.program);
  const backup = await openBackup(file);
  // The rows go into the tables that they came from; the rest is what an upgrade does.
  const migrations = own.filter(({ name }) => header.migrations.includes(name));
  const tables = await withLock(to, socket, async () => {
    const restored = await withWholeStore(to, { migrations }, async (store) => {
      await refuseAsTarget(store.dataSource, backup);
      await store.migrate();
      return restoreTables(store.dataSource, backup, progress);
    });
    if (migrations.length < own.length) await withWholeStore(to, { migrations: own }, (store) => store.migrate());
    return restored;
  });
  const mark = markOf(dataKeyOf(to, dataKey));
  return {
    file,
    bytes: backup.bytes,
    tables,
    header,
    migrated: own.length - migrations.length,
    dataKey: compare(header.dataKey, mark, to),
  };
}

/** `keys.data` of the config counts before the file beside an embedded store. */
function dataKeyOf(store: StoreConfig, named: Secret | null): Secret | null {
  if (named) return named.isWithheld ? null : named;
  const file = store.kind === 'embedded' ? join(store.dir, 'data.key') : null;
  return file !== null && existsSync(file) ? new Secret(readFileSync(file, 'utf8').trim()) : null;
}

/** Tells keys apart and tells nothing of them. */
function markOf(key: Secret | null): string | null {
  return key && new Encryptor(key).hash('forgehand backup').slice(0, 16);
}

function compare(wanted: string | null, actual: string | null, to: StoreConfig): RestoreReport['dataKey'] {
  if (wanted === null) return 'unknown';
  if (actual === null) return to.kind === 'embedded' ? 'missing' : 'unknown';
  return wanted === actual ? 'same' : 'other';
}

/** Called with the name of each table, before it. */
type Told = (table: string) => void;

/**
 * Write every row of every table, as of one moment, into a new file.
 * @throws UserError STORE_IS_NEWER, NO_STORE (it has no tables), BACKUP_EXISTS, BACKUP_DIFFERS
 */
export async function backUpTables(
  from: DataSource,
  file: string,
  facts: Pick<HeaderFacts, 'store' | 'dataKey' | 'madeAt'>,
  { progress, signal }: { progress: Told; signal?: AbortSignal | undefined },
): Promise<CopiedTable[]> {
  return within(from, 'REPEATABLE READ', async (source) => {
    const migrations = await appliedMigrations(source);
    if (migrations.length === 0)
      throw new UserError('NO_STORE', 'the store has no tables: there is nothing to back up');
    refuseNewer(from, migrations);
    const tables = await tablesOf(source);
    await holdTables(source, tables);
    const written: CopiedTable[] = [];
    async function* parts(): AsyncGenerator<BackupPart> {
      for (const table of tables) {
        progress(table.name);
        for await (const rows of rowsOf(source, table)) yield { table, rows };
        const sum = await sumOf(source, table);
        yield { table, sum };
        written.push({ name: table.name, rows: Number(sum.rows) });
      }
    }
    await writeNewFile(file, backupBytes({ ...facts, migrations, tables }, parts()), signal);
    return written;
  });
}

/** @throws UserError STORE_NOT_EMPTY, STORE_IN_USE, TARGET_IS_NEWER (than the backup) */
async function refuseAsTarget(to: DataSource, { header }: OpenedBackup): Promise<void> {
  const applied = await appliedMigrations(to);
  if (applied.length === 0) return;
  await within(to, 'READ COMMITTED', async (target) => refuseUnlessEmpty(target, await tablesOf(target)));
  const later = applied.find((name) => !header.migrations.includes(name));
  if (later !== undefined)
    throw new UserError(
      'TARGET_IS_NEWER',
      `the target has tables of a later version than the backup (${later}): restore into a folder or a database that no bot has used yet, and its tables are brought up to date then`,
    );
}

/**
 * Put every row of a backup into empty tables of the same migrations, in one transaction; counts and digests are compared in the store.
 * @throws UserError STORES_DIFFER (other tables), STORE_NOT_EMPTY, STORE_IN_USE, BACKUP_DAMAGED, RESTORE_DIFFERS (which must not happen)
 */
async function restoreTables(to: DataSource, backup: OpenedBackup, progress: Told): Promise<CopiedTable[]> {
  return within(to, 'READ COMMITTED', async (target) => {
    const tables = await tablesOf(target);
    if (JSON.stringify(tables) !== JSON.stringify(backup.header.tables))
      throw new UserError(
        'STORES_DIFFER',
        `the target has other tables than the backup (${difference(tables, backup.header.tables)}): restore into a database that nothing else uses`,
      );
    await refuseUnlessEmpty(target, tables);
    const restored: CopiedTable[] = [];
    let current = '';
    for await (const part of backup.parts()) {
      const { table } = part;
      if (table.name !== current) progress((current = table.name));
      if ('rows' in part) {
        await insertRows(target, table, part.rows);
        continue;
      }
      const { rows, digest } = await sumOf(target, table);
      if (rows !== part.sum.rows || digest !== part.sum.digest)
        throw new UserError(
          'RESTORE_DIFFERS',
          `table ${table.name} differs after the restore (${part.sum.rows} rows in the backup, ${rows} here): the restored rows were discarded`,
        );
      await advanceSequences(target, table);
      restored.push({ name: table.name, rows: Number(rows) });
    }
    return restored;
  });
}

function difference(here: readonly Table[], there: readonly Table[]): string {
  const missing = (some: readonly Table[], others: readonly Table[]): string[] =>
    some
      .filter((table) => !others.some((other) => JSON.stringify(other) === JSON.stringify(table)))
      .map(({ name }) => name);
  return [...new Set([...missing(here, there), ...missing(there, here)])].join(', ');
}
