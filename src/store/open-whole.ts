import type { DataSource } from 'typeorm';
import type { StoreConfig } from '../config/app-config.js';
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

export interface WholeOptions {
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
