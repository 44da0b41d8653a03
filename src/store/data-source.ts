import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { messageOf } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import type { Logger } from '../core/logger.js';
import type { EmbeddedDatabase } from './embedded/open-embedded.js';
import { ArrivalEventEntity } from './entities/arrival-event.entity.js';
import { ArrivalEntity } from './entities/arrival.entity.js';
import { AttemptEntity } from './entities/attempt.entity.js';
import { EventEntity } from './entities/event.entity.js';
import { IntentEntity } from './entities/intent.entity.js';
import { BudgetHoldEntity, BudgetUseEntity, EchoEntity, UndoneEntity } from './entities/recovery.entities.js';
import { RunEntity } from './entities/run.entity.js';
import { CursorEntity, PauseEntity, RevisionEntity, TickEntity } from './entities/small.entities.js';
import { MIGRATIONS, type Migrations } from './migrations/index.js';
import { SnakeCaseColumns } from './naming.js';
import { OrmLogger } from './orm-logger.js';

export const ENTITIES = [
  ArrivalEntity,
  ArrivalEventEntity,
  EventEntity,
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
  BudgetUseEntity,
];

const CONNECT_TIMEOUT_MS = 5_000;
const SILENCE_MS = 1_000;

export interface PostgresPool {
  readonly size: number;
  /** A statement that takes longer is stopped by the server; 0 = never (migrations). */
  readonly statementTimeoutMs: number;
  readonly logger: Logger;
  /** Those to bring the tables up to date with. Default: all. */
  readonly migrations?: Migrations;
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
    extra: { ...timeouts, keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
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
    extra: { stream: embedded.openStream, idleTimeoutMillis: 0 },
  } satisfies DataSourceOptions);
}
