import { ActStore } from '../api/act-store.port.js';
import { ActivityStore } from '../insight/activity-store.port.js';
import { ArchiveStore } from '../housekeeping/archive-store.port.js';
import { AuditStore } from '../housekeeping/audit/audit-store.port.js';
import { CursorStore } from '../polling/cursor-store.port.js';
import { EndedRecordStore } from '../housekeeping/ended-record-store.port.js';
import { RetentionStore } from '../housekeeping/retention-store.port.js';
import { ErasureStore } from '../housekeeping/erase/erasure-store.port.js';
import { FindingStore } from '../policies/finding-store.port.js';
import { GapStore } from '../pipeline/gap-store.port.js';
import { GrantStore } from '../console/login/grant-store.port.js';
import { HistoryStore } from '../insight/history-store.port.js';
import { IdStore } from '../api/id-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { KnownOrgs } from '../core/known-orgs.port.js';
import { Notifications } from '../queue/notifications.port.js';
import { OpenAlertStore } from '../housekeeping/open-alert-store.port.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { PlanStore } from '../policies/plan-store.port.js';
import { PoisonMessageStore } from '../pipeline/poison-message-store.port.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';
import { ReloadSignal } from '../housekeeping/reload/reload-signal.port.js';
import { RevisionStore } from '../rules/revisions/revision-store.port.js';
import { RolloutStore } from '../pipeline/rollout-store.port.js';
import { SeenRepositories } from '../forge/seen-repositories.port.js';
import { SessionStore } from '../api/session-store.port.js';
import { StoreCopier } from '../api/store-files.port.js';
import { StoreHealth } from '../api/open-store.port.js';
import { StoreMaintenance } from '../housekeeping/store-maintenance.port.js';
import { TickStore } from '../pipeline/tick-store.port.js';
import { UntrustedProxyStore } from '../webhooks/untrusted-proxies.port.js';
import { WaitingStore } from '../pipeline/waiting-store.port.js';
import type { Stores } from './open-stores.js';

/** The store that was opened. */
export abstract class OpenStore {}
export interface OpenStore extends Stores {}

/** The port that each part of the store stands for. */
const PORTS = {
  inbox: InboxStore,
  journal: JournalStore,
  recovery: RecoveryStore,
  cursors: CursorStore,
  gaps: GapStore,
  plans: PlanStore,
  findings: FindingStore,
  ticks: TickStore,
  revisions: RevisionStore,
  seenRepositories: SeenRepositories,
  history: HistoryStore,
  rollouts: RolloutStore,
  knownFacts: KnownFacts,
  knownOrgs: KnownOrgs,
  archive: ArchiveStore,
  ended: EndedRecordStore,
  retention: RetentionStore,
  poisonMessages: PoisonMessageStore,
  waiting: WaitingStore,
  audit: AuditStore,
  acts: ActStore,
  openAlerts: OpenAlertStore,
  reload: ReloadSignal,
  operators: OperatorStore,
  sessions: SessionStore,
  grants: GrantStore,
  erasure: ErasureStore,
  untrustedProxies: UntrustedProxyStore,
  ids: IdStore,
  activity: ActivityStore,
  notifications: Notifications,
} satisfies { readonly [Name in keyof Stores]?: abstract new (...args: never[]) => NonNullable<Stores[Name]> };

/** What asks the store as a whole. */
const WHOLE = [StoreMaintenance, StoreCopier, StoreHealth];

export const STORE_PORTS = [
  ...Object.entries(PORTS).map(([name, port]) => ({
    provide: port,
    inject: [OpenStore],
    useFactory: (store: OpenStore) => store[name as keyof typeof PORTS],
  })),
  ...WHOLE.map((port) => ({ provide: port, useExisting: OpenStore })),
];
