import { Global, Module } from '@nestjs/common';
import { ActStore } from '../api/act-store.port.js';
import { IdStore } from '../api/id-store.port.js';
import { SessionStore } from '../api/session-store.port.js';
import { StoreHealth, STORE_LOCK } from '../api/open-store.port.js';
import { StoreCopier } from '../api/store-files.port.js';
import type { AppConfig } from '../config/app-config.js';
import { ErasureStore } from '../housekeeping/erase/erasure-store.port.js';
import { GrantStore } from '../console/login/grant-store.port.js';
import { APP_CONFIG, THIS_PROCESS } from '../config/config.module.js';
import { keyBesideData } from '../config/data-key.js';
import { Encryptor } from '../core/encryptor.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { Logger } from '../core/logger.js';
import { Opened } from '../core/opened.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { part, portToken, type PartProvider, type Token } from '../core/part.js';
import { makePrivate } from '../core/private-files.js';
import { SeenRepositories } from '../forge/seen-repositories.port.js';
import { ArchiveStore } from '../housekeeping/archive-store.port.js';
import { AuditStore } from '../housekeeping/audit/audit-store.port.js';
import { OpenAlertStore } from '../housekeeping/open-alert-store.port.js';
import { StoreMaintenance } from '../housekeeping/store-maintenance.port.js';
import { ActivityStore } from '../insight/activity-store.port.js';
import { HistoryStore } from '../insight/history-store.port.js';
import { WaitingStore } from '../pipeline/waiting-store.port.js';
import { PoisonMessageStore } from '../pipeline/poison-message-store.port.js';
import { GapStore } from '../pipeline/gap-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';
import { RolloutStore } from '../pipeline/rollout-store.port.js';
import { TickStore } from '../pipeline/tick-store.port.js';
import { FindingStore } from '../policies/finding-store.port.js';
import { PlanStore } from '../policies/plan-store.port.js';
import { CursorStore } from '../polling/cursor-store.port.js';
import { NOTIFICATIONS } from '../queue/notifications.port.js';
import { RevisionStore } from '../rules/revisions/revision-store.port.js';
import { UntrustedProxyStore } from '../webhooks/untrusted-proxies.port.js';
import { openStores, type Stores } from './open-stores.js';

const STORES = portToken<Stores>('Stores');

const PARTS = [
  part(
    STORES,
    { lock: STORE_LOCK, config: APP_CONFIG, self: THIS_PROCESS, logger: Logger, opened: Opened },
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
  portOf(InboxStore, 'inbox'),
  portOf(JournalStore, 'journal'),
  portOf(RecoveryStore, 'recovery'),
  portOf(CursorStore, 'cursors'),
  portOf(GapStore, 'gaps'),
  portOf(PlanStore, 'plans'),
  portOf(FindingStore, 'findings'),
  portOf(TickStore, 'ticks'),
  portOf(RevisionStore, 'revisions'),
  portOf(SeenRepositories, 'seenRepositories'),
  portOf(HistoryStore, 'history'),
  portOf(RolloutStore, 'rollouts'),
  portOf(KnownFacts, 'known'),
  portOf(ArchiveStore, 'archive'),
  portOf(PoisonMessageStore, 'poisonMessages'),
  portOf(WaitingStore, 'waiting'),
  portOf(AuditStore, 'audit'),
  portOf(ActStore, 'acts'),
  portOf(OpenAlertStore, 'openAlerts'),
  portOf(OperatorStore, 'operators'),
  portOf(SessionStore, 'sessions'),
  portOf(GrantStore, 'grants'),
  portOf(ErasureStore, 'erasure'),
  portOf(UntrustedProxyStore, 'untrustedProxies'),
  portOf(IdStore, 'ids'),
  portOf(ActivityStore, 'activity'),
  portOf(NOTIFICATIONS, 'notifications'),
  part(StoreMaintenance, { stores: STORES }, ({ stores }) => stores),
  part(StoreCopier, { stores: STORES }, ({ stores }) => stores),
  part(StoreHealth, { stores: STORES }, ({ stores }) => stores),
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

function portOf<Name extends keyof Stores>(port: Token<Stores[Name]>, name: Name): PartProvider {
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
