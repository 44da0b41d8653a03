import type { DataSource } from 'typeorm';
import type { StoreConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';
import { type WholeStore, requireStore, withLock, withWholeStore } from './whole-store.js';
import { advanceSequences, insertRows, refuseUnlessEmpty, rowsOf, sumOf, tablesOf, within } from './whole-tables.js';

interface CopyStoreOptions {
  /** Lock of the embedded store; default `run/control.sock` in its folder. */
  readonly socket?: string | undefined;
  /** Called before each table. */
  readonly progress?: (table: string) => void;
}

/**
 * Copy one store into another, empty one. An embedded store is locked meanwhile, so no bot can be running on it; both are brought up to
 * date first.
 * @throws UserError ALREADY_RUNNING, NO_STORE, and what copyTables throws
 */
export async function copyStore(
  from: StoreConfig,
  to: StoreConfig,
  { socket, progress }: CopyStoreOptions = {},
): Promise<CopiedTable[]> {
  requireStore(from);
  const opened = <T>(config: StoreConfig, work: (store: WholeStore) => Promise<T>): Promise<T> =>
    withLock(config, socket, () =>
      withWholeStore(config, {}, async (store) => {
        await store.migrate();
        return work(store);
      }),
    );
  return opened(from, (source) => opened(to, (target) => copyTables(source.dataSource, target.dataSource, progress)));
}

/** One table after the copy; `rows` were counted in both stores and their contents found equal. */
export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
}

/**
 * Copy every row of every table from one store to another with the same tables, in an order that the references between them allow. The source
 * is read as of one moment; the target gets all of it in one transaction, or nothing.
 * @param progress before each table
 * @throws UserError STORE_NOT_EMPTY, STORES_DIFFER (other tables), COPY_DIFFERS (counts or contents, which must not happen)
 */
async function copyTables(
  from: DataSource,
  to: DataSource,
  progress: (table: string) => void = () => {},
): Promise<CopiedTable[]> {
  return within(from, 'REPEATABLE READ', (source) =>
    within(to, 'READ COMMITTED', async (target) => {
      const tables = await tablesOf(source);
      if (JSON.stringify(tables) !== JSON.stringify(await tablesOf(target)))
        throw new UserError(
          'STORES_DIFFER',
          'the two stores have different tables: start the same version of forgehand on both first',
        );
      await refuseUnlessEmpty(target, tables);
      const copied: CopiedTable[] = [];
      for (const table of tables) {
        progress(table.name);
        for await (const rows of rowsOf(source, table)) await insertRows(target, table, rows);
        const [here, there] = [await sumOf(source, table), await sumOf(target, table)];
        if (here.rows !== there.rows || here.digest !== there.digest)
          throw new UserError(
            'COPY_DIFFERS',
            `table ${table.name} differs after the copy (${here.rows} rows there, ${there.rows} here): the copy was discarded`,
          );
        copied.push({ name: table.name, rows: Number(here.rows) });
        await advanceSequences(target, table);
      }
      return copied;
    }),
  );
}
