import Fastify from 'fastify';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ControlSocket } from './api/admin-listeners.js';
import type { StoreConfig } from './config/app-config.js';
import { UserError } from './core/errors.js';
import { copyTables } from './store/copy-tables.js';
import type { CopiedTable } from './store/copy-tables.js';
import { openStores } from './store/open-stores.js';
import type { Stores } from './store/open-stores.js';

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
export async function copyStore(from: StoreConfig, to: StoreConfig, { socket, told }: CopyStoreOptions = {}): Promise<CopiedTable[]> {
  if (from.kind === 'embedded' && !existsSync(join(from.dir, 'db', 'PG_VERSION')))
    throw new UserError('NO_STORE', `there is no embedded store in ${from.dir} (looked for ${join(from.dir, 'db')})`);
  return opened(from, socket, (source) => opened(to, socket, (target) => copyTables(source.dataSource, target.dataSource, told)));
}

async function opened<T>(config: StoreConfig, socket: string | undefined, work: (stores: Stores) => Promise<T>): Promise<T> {
  // Who asks this "bot" something gets an answer, and none that could be taken for a bot's.
  const lock =
    config.kind === 'embedded'
      ? await ControlSocket.hold({ socket: resolve(socket ?? join(config.dir, 'run', 'control.sock')), listen: null, token: null, tls: null }, Fastify())
      : null;
  try {
    const stores = await openStores(config);
    try {
      await stores.migrate();
      return await work(stores);
    } finally {
      await stores.close();
    }
  } finally {
    await lock?.close();
  }
}
