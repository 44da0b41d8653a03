import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import type { StoreConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';
import { holdSocket, socketPath } from '../platform/hold-socket.js';
import { limitedFastify } from '../platform/limited-fastify.js';
import { silentLogger } from '../core/logger.js';
import { embeddedDataSource, postgresDataSource } from './data-source.js';
import { openEmbedded } from './embedded/open-embedded.js';
import { migrate } from './migrate.js';
import { MIGRATIONS, type Migrations } from './migrations/index.js';
import { toStoreError } from './store-errors.js';

/** A store as its tables, for work on all of them: no statement is stopped for taking long. */
export interface WholeStore {
  readonly dataSource: DataSource;
  /** Bring the tables up to date with the given migrations. */
  migrate(): Promise<void>;
  close(): Promise<void>;
}

interface WholeOptions {
  /** Default: all. */
  readonly migrations?: Migrations;
  /** The embedded store is a copy to be read and thrown away. Default false. */
  readonly isCopy?: boolean;
}

/**
 * Open a store. The embedded store belongs to one process: hold the lock beside it first.
 * @throws StoreUnavailable when the server cannot be reached; UserError when the embedded store cannot be opened
 */
export async function openWhole(
  config: StoreConfig,
  { migrations = MIGRATIONS, isCopy = false }: WholeOptions = {},
): Promise<WholeStore> {
  if (config.kind === 'postgres') {
    const dataSource = await connected(
      postgresDataSource(config.url, { size: 2, statementTimeoutMs: 0, logger: silentLogger, migrations }),
    );
    return {
      dataSource,
      migrate: () => migrate(dataSource, { lock: true, logger: silentLogger, folder: null }),
      close: () => dataSource.destroy(),
    };
  }
  // The template has the tables of today.
  const embedded = await openEmbedded(config.dir, { template: migrations.length === MIGRATIONS.length, isCopy });
  const dataSource = await connected(embeddedDataSource(embedded, silentLogger, migrations));
  return {
    dataSource,
    migrate: () => migrate(dataSource, { lock: false, logger: silentLogger, folder: config.dir }),
    close: async () => {
      await dataSource.destroy();
      await embedded.close();
    },
  };
}

async function connected(dataSource: DataSource): Promise<DataSource> {
  try {
    return await dataSource.initialize();
  } catch (error) {
    throw toStoreError(error);
  }
}

/**
 * Hold the lock of an embedded store, so that no bot can be running on it; a server has none.
 * @param socket default `run/control.sock` in the store's folder
 * @throws UserError ALREADY_RUNNING
 */
export async function withLock<T>(config: StoreConfig, socket: string | undefined, work: () => Promise<T>): Promise<T> {
  if (config.kind !== 'embedded') return work();
  const path = socketPath(resolve(socket ?? join(config.dir, 'run', 'control.sock')));
  // Who asks this "bot" something gets an answer, and none that could be taken for a bot's.
  const lock = limitedFastify('control socket');
  await holdSocket(path, (place) => lock.listen({ path: place }));
  try {
    return await work();
  } finally {
    await lock.close();
  }
}

/** Open a store whose lock is held, for the time of `work`. */
export async function withWholeStore<T>(
  config: StoreConfig,
  options: WholeOptions,
  work: (store: WholeStore) => Promise<T>,
): Promise<T> {
  const store = await openWhole(config, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** @throws UserError NO_STORE */
export function requireStore(config: StoreConfig): void {
  if (config.kind === 'embedded' && !existsSync(join(config.dir, 'db', 'PG_VERSION')))
    throw new UserError(
      'NO_STORE',
      `there is no embedded store in ${config.dir} (looked for ${join(config.dir, 'db')})`,
    );
}
