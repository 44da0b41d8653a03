import pg from 'pg';
import {
  AbstractLogger,
  DataSource,
  DefaultNamingStrategy,
  type DataSourceOptions,
  type LogLevel,
  type LogMessage,
} from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { messageOf } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import type { Logger } from '../core/logger.js';
import type { EmbeddedDatabase } from './embedded/open-embedded.js';
import { ArrivalEventEntity, DeciderEntity, EventEntity } from './entities/event.entity.js';
import { ArrivalEntity } from './entities/arrival.entity.js';
import { AttemptEntity } from './entities/attempt.entity.js';
import {
  HeartbeatEntity,
  FeedRepositoryEntity,
  GapEntity,
  KnownEntryEntity,
  ObjectStateEntity,
  OutageEntity,
  RepeatEntity,
  WorkInProgressEntity,
} from './entities/intake.entities.js';
import {
  ActEntity,
  AuditCutEntity,
  AuditLinkEntity,
  FindingEntity,
  KnownFactEntity,
  OpenAlertsEntity,
  OperatorEntity,
  PlanEntity,
  ResolvedAlertEntity,
  RolloutEntity,
  TrustedPolicyEntity,
  UntrustedProxyEntity,
} from './entities/governance.entities.js';
import { ConsoleGrantEntity } from './entities/console-grant.entity.js';
import { IntentEntity } from './entities/intent.entity.js';
import {
  BudgetHoldEntity,
  BudgetUseEntity,
  EchoEntity,
  ForgeHoldEntity,
  PutOffEntity,
  ToldActEntity,
  UndoneEntity,
} from './entities/recovery.entities.js';
import { RunEntity } from './entities/run.entity.js';
import { CursorEntity, PauseEntity, RevisionEntity, TickEntity } from './entities/small.entities.js';
import { ConsoleSessionEntity, ConsoleTicketEntity } from './entities/console.entities.js';
import { MIGRATIONS, type Migrations } from './migrations/index.js';
import { snakeCase } from './columns.js';

const ENTITIES = [
  ArrivalEntity,
  ArrivalEventEntity,
  RepeatEntity,
  KnownEntryEntity,
  EventEntity,
  DeciderEntity,
  RunEntity,
  IntentEntity,
  AttemptEntity,
  CursorEntity,
  TickEntity,
  RevisionEntity,
  PauseEntity,
  UndoneEntity,
  EchoEntity,
  BudgetHoldEntity,
  ForgeHoldEntity,
  PutOffEntity,
  ToldActEntity,
  BudgetUseEntity,
  GapEntity,
  HeartbeatEntity,
  OutageEntity,
  FeedRepositoryEntity,
  ObjectStateEntity,
  WorkInProgressEntity,
  PlanEntity,
  FindingEntity,
  RolloutEntity,
  TrustedPolicyEntity,
  OperatorEntity,
  AuditCutEntity,
  AuditLinkEntity,
  ActEntity,
  KnownFactEntity,
  UntrustedProxyEntity,
  OpenAlertsEntity,
  ResolvedAlertEntity,
  ConsoleSessionEntity,
  ConsoleTicketEntity,
  ConsoleGrantEntity,
];

const CONNECT_TIMEOUT_MS = 5_000;
const SILENCE_MS = 1_000;

interface PostgresPool {
  readonly size: number;
  /** A statement that takes longer is stopped by the server; 0 = never (migrations). */
  readonly statementTimeoutMs: number;
  readonly logger: Logger;
  /** Those to bring the tables up to date with. Default: all. */
  readonly migrations?: Migrations;
}

/** Columns are the properties in snake_case. */
class SnakeCaseColumns extends DefaultNamingStrategy {
  override columnName(propertyName: string, customName: string | undefined, prefixes: string[]): string {
    return customName ?? [...prefixes, propertyName].map(snakeCase).join('_');
  }
}

/**
 * What TypeORM has to say goes where ours goes, at the level for those who look for a cause: what fails comes as an error as well, and its
 * own words on the console would stand before ours.
 */
class OrmLogger extends AbstractLogger {
  constructor(private readonly logger: Logger) {
    super(false);
  }

  protected override writeLog(
    _level: LogLevel,
    message: LogMessage | string | number | Array<LogMessage | string | number>,
  ): void {
    for (const one of [message].flat())
      this.logger.debug({ reason: String(typeof one === 'object' ? one.message : one) }, 'store.orm');
  }
}

function common(
  logger: Logger,
  migrations: Migrations,
): Pick<
  PostgresDataSourceOptions,
  | 'type'
  | 'driver'
  | 'entities'
  | 'migrations'
  | 'namingStrategy'
  | 'logging'
  | 'logger'
  | 'connectTimeoutMS'
  | 'poolErrorHandler'
> {
  return {
    type: 'postgres',
    // Named here, for TypeORM would look for the package when it runs, and the bundle would lack it.
    driver: pg,
    entities: ENTITIES,
    migrations: [...migrations],
    namingStrategy: new SnakeCaseColumns(),
    logging: false,
    logger: new OrmLogger(logger),
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: (error: unknown) => logger.warn({ reason: messageOf(error) }, 'store.connection-lost'),
  };
}

/** Statements may be sent before the answers to those before them are there (`executeAtOnce`). */
const PIPELINE = { pipeline: true };

/** PostgreSQL on a server. The URL's own parameters (sslmode, …) are `pg`'s. */
export function postgresDataSource(
  url: Secret,
  { size, statementTimeoutMs, logger, migrations = MIGRATIONS }: PostgresPool,
): DataSource {
  const timeouts =
    statementTimeoutMs === 0
      ? {}
      : {
          statement_timeout: statementTimeoutMs,
          lock_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
          // Of a connection that went silent the server cannot tell; what it could have told is waited for a little longer.
          query_timeout: statementTimeoutMs + SILENCE_MS,
        };
  return new DataSource({
    ...common(logger, migrations),
    url: url.reveal(),
    poolSize: size,
    applicationName: 'forgehand',
    // A half-open connection is found out by the system instead of never.
    extra: { ...timeouts, ...PIPELINE, keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
  } satisfies DataSourceOptions);
}

/** The embedded store: the same driver over a stream; one backend, hence one connection. It ignores `statement_timeout`. */
export function embeddedDataSource(
  embedded: EmbeddedDatabase,
  logger: Logger,
  migrations: Migrations = MIGRATIONS,
): DataSource {
  return new DataSource({
    ...common(logger, migrations),
    poolSize: 1,
    // Said in full, for `pg` would otherwise take PGUSER, PGSSLMODE and their like from the environment. Work queues for the one
    // connection, so the wait for it is no sign of a dead server.
    connectTimeoutMS: 60_000,
    host: 'embedded',
    port: 5432,
    username: 'postgres',
    password: 'none',
    database: 'postgres',
    ssl: false,
    extra: { ...PIPELINE, stream: embedded.openStream, idleTimeoutMillis: 0 },
  } satisfies DataSourceOptions);
}
