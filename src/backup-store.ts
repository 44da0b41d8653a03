import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AppConfig, StoreConfig } from './config/app-config.js';
import { Secret } from './core/secret.js';
import { newer, openBackup, verifyBackup, type BackupHeader } from './store/backup-file.js';
import { backUpTables, refuseAsTarget, restoreTables, type Told } from './store/backup-tables.js';
import type { CopiedTable } from './store/copy-tables.js';
import { usingCopy } from './store/embedded/copy-files.js';
import { MIGRATIONS } from './store/migrations/index.js';
import { Encryptor } from './core/encryptor.js';
import { requireStore, withLock, withWholeStore } from './whole-store.js';

export { verifyBackup };

/** What a store is written to, or read from. */
export interface BackupReport {
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

export interface BackupOptions {
  readonly told: Told;
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
  { told, signal, copy }: BackupOptions,
): Promise<BackupReport> {
  const from: StoreConfig = copy !== undefined && store.kind === 'embedded' ? { ...store, dir: copy } : store;
  requireStore(from);
  const facts = { store: store.kind, dataKey: markOf(dataKeyOf(store, keys.data)), madeAt: new Date().toISOString() };
  const write = (): Promise<CopiedTable[]> =>
    withWholeStore(from, { isCopy: copy !== undefined }, ({ dataSource }) =>
      backUpTables(dataSource, file, facts, { told, signal }),
    );
  const tables = await (copy === undefined
    ? withLock(from, control.socket ?? undefined, write)
    : usingCopy(copy, write));
  return { file, bytes: statSync(file).size, tables };
}

export interface RestoreOptions {
  readonly told: Told;
  readonly socket?: string | undefined;
  /** `keys.data` of the config, where there is one. */
  readonly dataKey: Secret | null;
}

/**
 * Fill an empty store with a backup, all or nothing, and bring its tables up to date. The whole file is checked before anything is written.
 * @throws UserError BACKUP_IS_NEWER, ALREADY_RUNNING, and what verifyBackup, refuseAsTarget and restoreTables throw
 */
export async function restoreStore(
  file: string,
  to: StoreConfig,
  { told, socket, dataKey }: RestoreOptions,
): Promise<RestoreReport> {
  const { header } = await verifyBackup(file);
  if (header.migrations.some((name) => !MIGRATIONS.some((known) => known.name === name)))
    throw newer(file, header.program);
  const backup = await openBackup(file);
  // The rows go into the tables that they came from; the rest is what an upgrade does.
  const migrations = MIGRATIONS.filter(({ name }) => header.migrations.includes(name));
  const tables = await withLock(to, socket, async () => {
    const restored = await withWholeStore(to, { migrations }, async (store) => {
      await refuseAsTarget(store.dataSource, backup);
      await store.migrate();
      return restoreTables(store.dataSource, backup, told);
    });
    if (migrations.length < MIGRATIONS.length) await withWholeStore(to, {}, (store) => store.migrate());
    return restored;
  });
  const mark = markOf(dataKeyOf(to, dataKey));
  return {
    file,
    bytes: backup.bytes,
    tables,
    header,
    migrated: MIGRATIONS.length - migrations.length,
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

function compare(wanted: string | null, found: string | null, to: StoreConfig): RestoreReport['dataKey'] {
  if (wanted === null) return 'unknown';
  if (found === null) return to.kind === 'embedded' ? 'missing' : 'unknown';
  return wanted === found ? 'same' : 'other';
}
