import type { AppConfig } from '../config/app-config.js';
import { keyBesideData } from '../config/data-key.js';
import type { LiveConfig } from '../config/live-config.js';
import { withKeys } from '../config/org-keys.js';
import type { ThisProcess } from '../config/this-process.js';
import { Encryptor } from '../core/encryptor.js';
import type { Logger } from '../core/logger.js';
import type { Opened } from '../platform/opened.js';
import { makePrivate } from '../platform/private-files.js';
import { openStores, type Stores } from './open-stores.js';

/** Opened, and brought up to date. */
async function openAsConfigured(
  config: AppConfig,
  { onFlushFailed }: ThisProcess,
  logger: Logger,
  opened: Opened,
): Promise<Stores> {
  keepPrivate(config, logger);
  const stores = await opened.keep(
    () => openStores(config.store, { logger, onFlushFailed }),
    (open) => open.close(),
  );
  // A store is not closed under a migration.
  await opened.keep(
    () => stores.migrate(),
    () => undefined,
  );
  return stores;
}

/** The same, and then the store says under which key each organization of the config is kept. */
export async function openWithKeys(
  config: LiveConfig,
  self: ThisProcess,
  logger: Logger,
  opened: Opened,
): Promise<Stores> {
  const stores = await openAsConfigured(config, self, logger, opened);
  config.replaceOrgs(await withKeys(config.orgs, stores.knownOrgs, self.keepsOrgs));
  return stores;
}

/** What this process keeps on the disk is for its own user, and for the group that the config names. */
function keepPrivate({ store, retention }: AppConfig, logger: Logger): void {
  const group = store.kind === 'embedded' ? (store.group ?? null) : null;
  process.umask(group === null ? 0o077 : 0o027);
  const folders = [
    ...(store.kind === 'embedded' ? [store.dir] : []),
    ...(retention.archive ? [retention.archive] : []),
  ];
  for (const folder of folders) {
    const mended = makePrivate(folder, group);
    if (mended.length > 0) logger.warn({ folder, count: mended.length, first: mended[0] }, 'store.mode-bits-mended');
  }
}

/** An embedded store keeps its key beside its data, which belongs to the holder of the lock. */
export function encryptorOf({ keys, store }: AppConfig): Encryptor {
  if (keys.data) return new Encryptor(keys.data);
  // readConfig demands keys.data with PostgreSQL.
  if (store.kind !== 'embedded') throw new Error('keys.data is missing');
  return new Encryptor(keyBesideData(store.dir));
}
