import type { DataSource } from 'typeorm';
import type { ActStore } from '../api/act-store.port.js';
import type { IdStore } from '../api/id-store.port.js';
import type { StoreFiles } from '../api/store-files.port.js';
import type { AppConfig } from '../config/app-config.js';
import { StoreUnavailable, UserError } from '../core/errors.js';
import type { FlushFailed } from '../platform/flush.js';
import type { KnownFacts } from '../core/known-facts.port.js';
import type { KnownOrgs } from '../core/known-orgs.port.js';
import { type Logger, silentLogger } from '../core/logger.js';
import type { SessionStore } from '../api/session-store.port.js';
import type { GrantStore } from '../console/login/grant-store.port.js';
import type { OperatorStore } from '../core/operator-store.port.js';
import type { SeenRepositories } from '../forge/seen-repositories.port.js';
import type { ErasureStore } from '../housekeeping/erase/erasure-store.port.js';
import type { ArchiveStore } from '../housekeeping/archive-store.port.js';
import type { EndedRecordStore } from '../housekeeping/ended-record-store.port.js';
import type { RetentionStore } from '../housekeeping/retention-store.port.js';
import type { AuditStore } from '../housekeeping/audit/audit-store.port.js';
import type { OpenAlertStore } from '../housekeeping/open-alert-store.port.js';
import type { ReloadSignal } from '../housekeeping/reload/reload-signal.port.js';
import type { StoreMaintenance } from '../housekeeping/store-maintenance.port.js';
import type { ActivityStore } from '../insight/activity-store.port.js';
import type { HistoryStore } from '../insight/history-store.port.js';
import type { GapStore } from '../pipeline/gap-store.port.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';
import type { JournalStore } from '../pipeline/journal-store.port.js';
import type { PoisonMessageStore } from '../pipeline/poison-message-store.port.js';
import type { RecoveryStore } from '../pipeline/recovery-store.port.js';
import type { RolloutStore } from '../pipeline/rollout-store.port.js';
import type { WaitingStore } from '../pipeline/waiting-store.port.js';
import type { TickStore } from '../pipeline/tick-store.port.js';
import type { FindingStore } from '../policies/finding-store.port.js';
import type { PlanStore } from '../policies/plan-store.port.js';
import type { CursorStore } from '../polling/cursor-store.port.js';
import type { Notifications } from '../queue/notifications.port.js';
import type { RevisionStore } from '../rules/revisions/revision-store.port.js';
import type { UntrustedProxyStore } from '../webhooks/untrusted-proxies.port.js';
import { embeddedDataSource, postgresDataSource } from './data-source.js';
import { Database, execute } from './database.js';
import { copyFiles } from './embedded/copy-files.js';
import { openEmbedded } from './embedded/open-embedded.js';
import { migrate } from './migrate.js';
import { PgNotifications } from './pg-notifications.js';
import { SqlActStore } from './sql-act-store.js';
import { SqlActivityStore } from './sql-activity-store.js';
import { SqlArchiveStore } from './sql-archive-store.js';
import { SqlAuditStore } from './sql-audit-store.js';
import { SqlEndedRecordStore } from './sql-ended-record-store.js';
import { SqlRetentionStore } from './sql-retention-store.js';
import { SqlGapStore } from './sql-gap-store.js';
import { SqlIdStore } from './sql-id-store.js';
import { SqlInboxStore } from './sql-inbox-store.js';
import { SqlJournalStore } from './sql-journal-store.js';
import { SqlOpenAlertStore } from './sql-open-alert-store.js';
import { SqlReloadSignal } from './sql-reload-signal.js';
import { SqlPoisonMessageStore } from './sql-poison-message-store.js';
import { SqlErasureStore } from './sql-erasure-store.js';
import { SqlRecoveryStore } from './sql-recovery-store.js';
import { SqlWaitingStore } from './sql-waiting-store.js';
import { toStoreError } from './store-errors.js';
import { StoreGate } from './store-gate.js';
import { TypeOrmCursorStore } from './typeorm-cursor-store.js';
import { TypeOrmFindingStore } from './typeorm-finding-store.js';
import { TypeOrmGrantStore } from './typeorm-grant-store.js';
import { TypeOrmHistoryStore } from './typeorm-history-store.js';
import { SqlKnownOrgs } from './sql-known-orgs.js';
import { TypeOrmKnownFacts } from './typeorm-known-facts.js';
import { TypeOrmSessionStore } from './typeorm-session-store.js';
import { TypeOrmOperatorStore } from './typeorm-operator-store.js';
import { TypeOrmPlanStore } from './typeorm-plan-store.js';
import { TypeOrmRevisionStore } from './typeorm-revision-store.js';
import { TypeOrmRolloutStore } from './typeorm-rollout-store.js';
import { TypeOrmSeenRepositories } from './typeorm-seen-repositories.js';
import { TypeOrmTickStore } from './typeorm-tick-store.js';
import { TypeOrmUntrustedProxies } from './typeorm-untrusted-proxies.js';

/** Tables whose rows change often: without a regular vacuum the embedded store grows with every change. */
const BUSY_TABLES = [
  'arrivals',
  'known_entries',
  'events',
  'arrival_events',
  'runs',
  'intents',
  'attempts',
  'audit_links',
  'cursors',
  'ticks',
  'heartbeats',
];

/**
 * Tables of the embedded store that have twice as many pages as when they were analyzed last, and more than a handful. A server has a process for that, by
 * rows; until then the planner takes a full table for an almost empty one.
 */
const GROWN_TABLES = `
SELECT c.oid::regclass::text AS name FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
  AND pg_relation_size(c.oid) > 2 * greatest(c.relpages, 4) * current_setting('block_size')::bigint`;

const STATEMENT_TIMEOUT_MS = 30_000;
/** The forge waits 5 s for an acknowledgement: a store that is slower must be given up before. */
const ACK_TIMEOUT_MS = 3_500;

interface StoreOptions {
  /** Default silent. */
  logger?: Logger;
  /** Connections to a server, besides the 3 for acknowledgements, 2 while migrating, and 1 where notifications are heard. Default 10; the embedded store has one. */
  poolSize?: number;
  /** The disk under the embedded store did not confirm a write: the process must end. Optional: without it, whoever asks the store is told. */
  onFlushFailed?: (error: FlushFailed) => void;
}

export interface Stores {
  readonly dataSource: DataSource;
  readonly inbox: InboxStore;
  readonly journal: JournalStore;
  readonly recovery: RecoveryStore;
  readonly cursors: CursorStore;
  readonly gaps: GapStore;
  readonly plans: PlanStore;
  readonly findings: FindingStore;
  readonly ticks: TickStore;
  readonly revisions: RevisionStore;
  readonly seenRepositories: SeenRepositories;
  readonly history: HistoryStore;
  readonly rollouts: RolloutStore;
  readonly knownFacts: KnownFacts;
  readonly knownOrgs: KnownOrgs;
  readonly archive: ArchiveStore;
  readonly ended: EndedRecordStore;
  readonly retention: RetentionStore;
  readonly poisonMessages: PoisonMessageStore;
  readonly waiting: WaitingStore;
  readonly audit: AuditStore;
  readonly acts: ActStore;
  readonly openAlerts: OpenAlertStore;
  readonly reload: ReloadSignal;
  readonly operators: OperatorStore;
  readonly sessions: SessionStore;
  readonly grants: GrantStore;
  readonly erasure: ErasureStore;
  readonly untrustedProxies: UntrustedProxyStore;
  readonly ids: IdStore;
  readonly activity: ActivityStore;
  /** Null = the store belongs to one process. */
  readonly notifications: Notifications | null;
  /** Bring the tables up to date; call it before anything else. Safe in many processes at once. */
  migrate(): Promise<void>;
  /** Whether the store answers. */
  ping(): Promise<boolean>;
  /** False = the disk of the store is full: nothing can be acknowledged. True where that cannot be told. */
  hasRoom(): Promise<boolean>;
  /**
   * Embedded: what a server does by itself (each minute: `analyze`, of what has grown; every few minutes: `checkpoint`; once an hour: `vacuum`). A server:
   * nothing.
   * Whoever asks the store meanwhile waits.
   */
  maintenance: StoreMaintenance['maintenance'];
  /**
   * Embedded: a copy of the store's files as of one moment, for a backup; whoever asks the store meanwhile waits.
   * @throws UserError on a server, whose backup reads the tables themselves
   */
  copyFiles(): Promise<StoreFiles>;
  close(): Promise<void>;
}

/**
 * Open the stores of this deployment. The embedded store belongs to one process: hold the lock beside it first.
 * @throws StoreUnavailable when the server cannot be reached; UserError when the embedded store cannot be opened
 */
export async function openStores(config: AppConfig['store'], options: StoreOptions = {}): Promise<Stores> {
  const logger = options.logger ?? silentLogger;
  return config.kind === 'embedded'
    ? openEmbeddedStores(config.dir, logger, options.onFlushFailed)
    : openPostgresStores(config.url, logger, options.poolSize ?? 10);
}

async function openEmbeddedStores(
  dir: string,
  logger: Logger,
  onFlushFailed: StoreOptions['onFlushFailed'],
): Promise<Stores> {
  const embedded = await openEmbedded(dir, { onFlushFailed });
  const dataSource = embeddedDataSource(embedded, logger);
  await connect(dataSource);
  const gate = new StoreGate(1);
  return {
    ...storesOver(dataSource, new Database(dataSource, gate), new Database(dataSource, gate, 'first')),
    notifications: null,
    migrate: () => migrate(dataSource, { lock: false, logger, folder: dir === ':memory:' ? null : dir }),
    maintenance: async (what) => {
      if (what === 'vacuum') for (const table of BUSY_TABLES) await dataSource.query(`VACUUM (ANALYZE) ${table}`);
      if (what !== 'analyze') return void (await dataSource.query('CHECKPOINT'));
      const grown = await dataSource.query<Array<{ name: string }>>(GROWN_TABLES);
      for (const { name } of grown) await dataSource.query(`ANALYZE ${name}`);
    },
    copyFiles: () => copyFiles(dir, (copy) => gate.through(() => alone(dataSource, copy), 'first')),
    close: async () => {
      await dataSource.destroy();
      await embedded.close();
    },
  };
}

async function openPostgresStores(
  url: Extract<AppConfig['store'], { kind: 'postgres' }>['url'],
  logger: Logger,
  size: number,
): Promise<Stores> {
  const dataSource = postgresDataSource(url, { size, statementTimeoutMs: STATEMENT_TIMEOUT_MS, logger });
  const acks = postgresDataSource(url, { size: 3, statementTimeoutMs: ACK_TIMEOUT_MS, logger });
  await connect(dataSource);
  try {
    await connect(acks);
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
  await warnOfLostCommits(dataSource, logger);
  const gate = new StoreGate(size);
  return {
    ...storesOver(dataSource, new Database(dataSource, gate), new Database(acks)),
    notifications: new PgNotifications(url, new Database(dataSource, gate, 'first')),
    migrate: async () => {
      const own = postgresDataSource(url, { size: 2, statementTimeoutMs: 0, logger });
      await connect(own);
      try {
        await migrate(own, { lock: true, logger, folder: null });
      } finally {
        await own.destroy();
      }
    },
    maintenance: async () => {},
    copyFiles: async () => {
      throw new UserError(
        'NO_FILES_TO_COPY',
        'the store is PostgreSQL: forgehand backup reads its tables, not its files',
      );
    },
    close: async () => {
      await Promise.all([acks.destroy(), dataSource.destroy()]);
    },
  };
}

function storesOver(
  dataSource: DataSource,
  db: Database,
  acks: Database,
): Omit<Stores, 'notifications' | 'migrate' | 'maintenance' | 'copyFiles' | 'close'> {
  const knownFacts = new TypeOrmKnownFacts(db);
  return {
    dataSource,
    inbox: new SqlInboxStore(db, acks),
    journal: new SqlJournalStore(db),
    recovery: new SqlRecoveryStore(db),
    cursors: new TypeOrmCursorStore(db),
    gaps: new SqlGapStore(db),
    plans: new TypeOrmPlanStore(db),
    findings: new TypeOrmFindingStore(db),
    poisonMessages: new SqlPoisonMessageStore(db),
    waiting: new SqlWaitingStore(db),
    audit: new SqlAuditStore(db),
    acts: new SqlActStore(db),
    openAlerts: new SqlOpenAlertStore(db),
    reload: new SqlReloadSignal(db),
    operators: new TypeOrmOperatorStore(db),
    sessions: new TypeOrmSessionStore(db),
    grants: new TypeOrmGrantStore(db),
    erasure: new SqlErasureStore(db),
    ticks: new TypeOrmTickStore(db),
    revisions: new TypeOrmRevisionStore(db),
    seenRepositories: new TypeOrmSeenRepositories(db),
    history: new TypeOrmHistoryStore(db),
    rollouts: new TypeOrmRolloutStore(db),
    knownFacts,
    knownOrgs: new SqlKnownOrgs(db, knownFacts),
    archive: new SqlArchiveStore(db),
    ended: new SqlEndedRecordStore(db),
    retention: new SqlRetentionStore(db),
    untrustedProxies: new TypeOrmUntrustedProxies(db),
    ids: new SqlIdStore(db),
    activity: new SqlActivityStore(db),
    hasRoom: () => hasRoom(db),
    ping: () =>
      dataSource.query('SELECT 1').then(
        () => true,
        () => false,
      ),
  };
}

/** With the one connection of an embedded store in hand, nobody else uses it: housekeeping does not wait at the gate. */
async function alone(dataSource: DataSource, work: () => Promise<void>): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.connect();
    await work();
  } finally {
    await runner.release();
  }
}

async function connect(dataSource: DataSource): Promise<void> {
  try {
    await dataSource.initialize();
  } catch (error) {
    throw toStoreError(error);
  }
}

/** Sorts more than its memory holds, so that the store writes a temporary file beside its tables and removes it. Any database user may do this. */
const SPILL = `SELECT count(*) FROM (SELECT n FROM generate_series(1, 20000) AS n ORDER BY md5(n::text) OFFSET 0) AS spilled`;

/** Whether a store that answers can also write. A store on a full disk is not available for writes (SQLSTATE class 53). */
export async function hasRoom(db: Database): Promise<boolean> {
  try {
    await db.transaction(async (manager) => {
      await execute(manager, `SET LOCAL work_mem = '64kB'`);
      await execute(manager, SPILL);
    });
    return true;
  } catch (error) {
    return !(error instanceof StoreUnavailable);
  }
}

/** Settings of a server under which it confirms a commit that the disk does not have. `local` and the others wait for the own disk at least. */
const NOT_DURABLE: ReadonlyArray<readonly [setting: string, value: string]> = [
  ['fsync', 'off'],
  ['full_page_writes', 'off'],
  ['synchronous_commit', 'off'],
];

/**
 * The settings with which this server may lose what it confirmed in a power cut.
 * @param settings as `current_setting` tells them to this user, for this database
 */
export function notDurable(settings: Readonly<Record<string, string>>): string[] {
  return NOT_DURABLE.filter(([setting, value]) => settings[setting] === value).map(([setting]) => setting);
}

/** One warning at the start: the bot works, and its promises do not hold. */
export async function warnOfLostCommits(dataSource: Pick<DataSource, 'query'>, logger: Logger): Promise<void> {
  const columns = NOT_DURABLE.map(([setting]) => `current_setting('${setting}') AS ${setting}`).join(', ');
  const [row] = (await dataSource.query(`SELECT ${columns}`)) as Array<Record<string, string>>;
  const off = notDurable(row ?? {});
  if (off.length > 0) logger.warn({ code: 'store_not_durable', off }, 'store.not-durable');
}
