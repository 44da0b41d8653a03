import type { DataSource } from 'typeorm';
import { UserError } from '../core/errors.js';
import { backupBytes, type BackupPart, type HeaderFacts, type OpenedBackup } from './backup-file.js';
import type { CopiedTable } from './copy-tables.js';
import { appliedMigrations, refuseNewer } from './migrate.js';
import { writeNewFile } from './new-file.js';
import {
  advanceSequences,
  holdTables,
  insertRows,
  refuseUnlessEmpty,
  rowsOf,
  sumOf,
  tablesOf,
  within,
  type Table,
} from './whole-tables.js';

/** Called with the name of each table, before it. */
export type Told = (table: string) => void;

/**
 * Write every row of every table, as of one moment, into a new file.
 * @throws UserError STORE_IS_NEWER, NO_STORE (it has no tables), BACKUP_EXISTS, BACKUP_DIFFERS
 */
export async function backUpTables(
  from: DataSource,
  file: string,
  facts: Pick<HeaderFacts, 'store' | 'dataKey' | 'madeAt'>,
  { told, signal }: { told: Told; signal?: AbortSignal | undefined },
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
        told(table.name);
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
export async function refuseAsTarget(to: DataSource, { header }: OpenedBackup): Promise<void> {
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
export async function restoreTables(to: DataSource, backup: OpenedBackup, told: Told): Promise<CopiedTable[]> {
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
      if (table.name !== current) told((current = table.name));
      if ('rows' in part) {
        await insertRows(target, table, part.rows);
        continue;
      }
      const { rows, digest } = await sumOf(target, table);
      if (rows !== part.sum.rows || digest !== part.sum.digest)
        throw new UserError(
          'RESTORE_DIFFERS',
          `table ${table.name} differs after the restore (${part.sum.rows} rows in the backup, ${rows} here): nothing was kept of it`,
        );
      await advanceSequences(target, table);
      restored.push({ name: table.name, rows: Number(rows) });
    }
    return restored;
  });
}

function difference(here: readonly Table[], there: readonly Table[]): string {
  const lacking = (some: readonly Table[], others: readonly Table[]): string[] =>
    some
      .filter((table) => !others.some((other) => JSON.stringify(other) === JSON.stringify(table)))
      .map(({ name }) => name);
  return [...new Set([...lacking(here, there), ...lacking(there, here)])].join(', ');
}
