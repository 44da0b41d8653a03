import type { StoreConfig } from './config/app-config.js';
import { copyTables } from './store/copy-tables.js';
import type { CopiedTable } from './store/copy-tables.js';
import type { WholeStore } from './store/open-whole.js';
import { requireStore, withLock, withWholeStore } from './whole-store.js';

export interface CopyStoreOptions {
  /** Lock of the embedded store; default `run/control.sock` in its folder. */
  readonly socket?: string | undefined;
  /** Called before each table. */
  readonly told?: (table: string) => void;
}

/**
 * Copy one store into another, empty one. An embedded store is locked meanwhile, so no bot can be running on it; both are brought up to
 * date first.
 * @throws UserError ALREADY_RUNNING, NO_STORE, and what copyTables throws
 */
export async function copyStore(
  from: StoreConfig,
  to: StoreConfig,
  { socket, told }: CopyStoreOptions = {},
): Promise<CopiedTable[]> {
  requireStore(from);
  const opened = <T>(config: StoreConfig, work: (store: WholeStore) => Promise<T>): Promise<T> =>
    withLock(config, socket, () =>
      withWholeStore(config, {}, async (store) => {
        await store.migrate();
        return work(store);
      }),
    );
  return opened(from, (source) => opened(to, (target) => copyTables(source.dataSource, target.dataSource, told)));
}
