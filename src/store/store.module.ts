import { Global, Module } from '@nestjs/common';
import { ACT_STORE } from '../api/act-store.port.js';
import { ID_STORE } from '../api/id-store.port.js';
import { SESSION_STORE } from '../api/session-store.port.js';
import { STORE_HEALTH, STORE_LOCK } from '../api/open-store.port.js';
import { STORE_COPIER } from '../api/store-files.port.js';
import type { AppConfig } from '../config/app-config.js';
import { ERASURE_STORE } from '../housekeeping/erase/erasure-store.port.js';
import { GRANT_STORE } from '../console/login/grant-store.port.js';
import { APP_CONFIG, THIS_PROCESS } from '../config/config.module.js';
import { keyBesideData } from '../config/data-key.js';
import { Encryptor } from '../core/encryptor.js';
import { KNOWN_FACTS } from '../core/known-facts.port.js';
import { LOGGER, type Logger } from '../core/logger.js';
import { Opened } from '../core/opened.js';
import { OPERATOR_STORE } from '../core/operator-store.port.js';
import { part, portToken, type PartProvider, type PortToken } from '../core/part.js';
import { makePrivate } from '../core/private-files.js';
import { SEEN_REPOSITORIES } from '../forge/seen-repositories.port.js';
import { ARCHIVE_STORE } from '../housekeeping/archive-store.port.js';
import { AUDIT_STORE } from '../housekeeping/audit/audit-store.port.js';
import { OPEN_ALERT_STORE } from '../housekeeping/open-alert-store.port.js';
import { STORE_MAINTENANCE } from '../housekeeping/store-maintenance.port.js';
import { ACTIVITY_STORE } from '../insight/activity-store.port.js';
import { HISTORY_STORE } from '../insight/history-store.port.js';
import { WAITING_STORE } from '../pipeline/waiting-store.port.js';
import { POISON_MESSAGE_STORE } from '../pipeline/poison-message-store.port.js';
import { GAP_STORE } from '../pipeline/gap-store.port.js';
import { INBOX_STORE } from '../pipeline/inbox-store.port.js';
import { JOURNAL_STORE } from '../pipeline/journal-store.port.js';
import { RECOVERY_STORE } from '../pipeline/recovery-store.port.js';
import { ROLLOUT_STORE } from '../pipeline/rollout-store.port.js';
import { TICK_STORE } from '../pipeline/tick-store.port.js';
import { FINDING_STORE } from '../policies/finding-store.port.js';
import { PLAN_STORE } from '../policies/plan-store.port.js';
import { CURSOR_STORE } from '../polling/cursor-store.port.js';
import { NOTIFICATIONS } from '../queue/notifications.port.js';
import { REVISION_STORE } from '../rules/revisions/revision-store.port.js';
import { UNTRUSTED_PROXIES } from '../webhooks/untrusted-proxies.port.js';
import { openStores, type Stores } from './open-stores.js';

const STORES = portToken<Stores>('Stores');

const PARTS = [
  part(
    STORES,
    { lock: STORE_LOCK, config: APP_CONFIG, self: THIS_PROCESS, logger: LOGGER, opened: Opened },
    async ({ config, self: { onFlushFailed }, logger, opened }) => {
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
    },
  ),
  // An embedded store keeps its key beside its data, which belongs to the holder of the lock.
  part(Encryptor, { config: APP_CONFIG, stores: STORES }, ({ config }) => encryptorOf(config)),
  portOf(INBOX_STORE, 'inbox'),
  portOf(JOURNAL_STORE, 'journal'),
  portOf(RECOVERY_STORE, 'recovery'),
  portOf(CURSOR_STORE, 'cursors'),
  portOf(GAP_STORE, 'gaps'),
  portOf(PLAN_STORE, 'plans'),
  portOf(FINDING_STORE, 'findings'),
  portOf(TICK_STORE, 'ticks'),
  portOf(REVISION_STORE, 'revisions'),
  portOf(SEEN_REPOSITORIES, 'seenRepositories'),
  portOf(HISTORY_STORE, 'history'),
  portOf(ROLLOUT_STORE, 'rollouts'),
  portOf(KNOWN_FACTS, 'known'),
  portOf(ARCHIVE_STORE, 'archive'),
  portOf(POISON_MESSAGE_STORE, 'poisonMessages'),
  portOf(WAITING_STORE, 'waiting'),
  portOf(AUDIT_STORE, 'audit'),
  portOf(ACT_STORE, 'acts'),
  portOf(OPEN_ALERT_STORE, 'openAlerts'),
  portOf(OPERATOR_STORE, 'operators'),
  portOf(SESSION_STORE, 'sessions'),
  portOf(GRANT_STORE, 'grants'),
  portOf(ERASURE_STORE, 'erasure'),
  portOf(UNTRUSTED_PROXIES, 'untrustedProxies'),
  portOf(ID_STORE, 'ids'),
  portOf(ACTIVITY_STORE, 'activity'),
  portOf(NOTIFICATIONS, 'notifications'),
  part(STORE_MAINTENANCE, { stores: STORES }, ({ stores }) => stores),
  part(STORE_COPIER, { stores: STORES }, ({ stores }) => stores),
  part(STORE_HEALTH, { stores: STORES }, ({ stores }) => stores),
];

/**
 * The store, opened under its lock and brought up to date, by the port of each room; and the key that seals values in it.
 *
 * Not through `@nestjs/typeorm`: its module closes the data source in a hook, before `Opened` has closed the queue, whose last jobs still store;
 * it closes nothing when the start fails half-way; and the repositories that it injects pass by the gate of `Database` and its errors.
 */
@Global()
@Module({ providers: PARTS, exports: PARTS.slice(1).map(({ provide }) => provide) })
export class StoreModule {}

function portOf<Name extends keyof Stores>(port: PortToken<Stores[Name]>, name: Name): PartProvider {
  return part(port, { stores: STORES }, ({ stores }) => stores[name]);
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

function encryptorOf({ keys, store }: AppConfig): Encryptor {
  if (keys.data) return new Encryptor(keys.data);
  // readConfig demands keys.data with PostgreSQL.
  if (store.kind !== 'embedded') throw new Error('keys.data is missing');
  return new Encryptor(keyBesideData(store.dir));
}
