import Fastify from 'fastify';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ControlSocket } from './api/admin-listeners.js';
import type { StoreConfig } from './config/app-config.js';
import { UserError } from './core/errors.js';
import { openWhole, type WholeOptions, type WholeStore } from './store/open-whole.js';

/**
 * Hold the lock of an embedded store, so that no bot can be running on it; a server has none.
 * @param socket default `run/control.sock` in the store's folder
 * @throws UserError ALREADY_RUNNING
 */
export async function withLock<T>(config: StoreConfig, socket: string | undefined, work: () => Promise<T>): Promise<T> {
  if (config.kind !== 'embedded') return work();
  const path = resolve(socket ?? join(config.dir, 'run', 'control.sock'));
  // Who asks this "bot" something gets an answer, and none that could be taken for a bot's.
  const lock = await ControlSocket.hold({ socket: path, listen: null, token: null, tls: null }, Fastify());
  try {
    return await work();
  } finally {
    await lock?.close();
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
