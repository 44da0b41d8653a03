import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { describe } from '@jest/globals';
import pg from 'pg';
import { Secret } from '../../src/core/secret.js';
import { makeTemplate } from '../../src/store/embedded/make-template.js';
import { templateFile } from '../../src/store/embedded/template.js';
import { MIGRATIONS } from '../../src/store/migrations/index.js';
import { openStores, type Stores } from '../../src/store/open-stores.js';
import type { StoreConfig } from '../../src/config/app-config.js';
import { keepStatements, watchMethods, watchStatements } from '../storms/statements/record.js';

export const POSTGRES_URL = process.env['FORGEHAND_TEST_POSTGRES_URL'];

/** Skipped, and counted as such, where no PostgreSQL could be had. */
export const describeOnPostgres = POSTGRES_URL ? describe : describe.skip;

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database with today's tables: a copy of a template that the first caller makes. One for each test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const template = `forgehand_template_${createHash('sha256').update(MIGRATIONS.map(String).join()).digest('hex').slice(0, 12)}`;
  const name = `forgehand_test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await asAdmin(async (admin) => {
    // Two test files at once must not both make the template; and a template in use cannot be copied.
    await admin.query(`SELECT pg_advisory_lock(hashtext($1))`, [template]);
    const known = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (known.rowCount === 0) await makeTemplateDatabase(admin, template);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    await admin.query(`SELECT pg_advisory_unlock(hashtext($1))`, [template]);
  });
  return {
    url: urlOf(name),
    drop: () => asAdmin(async (admin) => void (await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

async function makeTemplateDatabase(admin: pg.Client, template: string): Promise<void> {
  const unfinished = `${template}_new`;
  await admin.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${unfinished} TEMPLATE template0 ENCODING 'UTF8'`);
  const stores = await openStores({ kind: 'postgres', url: new Secret(urlOf(unfinished)) });
  await stores.migrate();
  await stores.close();
  await admin.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`);
}

function urlOf(database: string): string {
  const url = new URL(POSTGRES_URL ?? '');
  url.pathname = `/${database}`;
  return url.href;
}

async function asAdmin(use: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: POSTGRES_URL });
  await admin.connect();
  try {
    await use(admin);
  } finally {
    await admin.end();
  }
}

/** The embedded store's template is made by the build; without one, the first test that needs it makes it. */
export async function ensureEmbeddedTemplate(): Promise<void> {
  if (!existsSync(await templateFile())) await makeTemplate();
}

export interface TestStores {
  readonly stores: Stores;
  readonly config: StoreConfig;
  /** Empty all tables. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const TABLES =
  'acts, told_acts, audit_links, audit_cuts, budget_holds, forge_holds, put_off, work_in_progress, object_states, repeats, known_entries, rollouts, undone, echoes, arrival_events, attempts, intents, runs, events, arrivals, cursors, ticks, revisions, pauses, gaps, known_facts, heartbeats, outages, operators, untrusted_proxies, console_grants, console_sessions, console_tickets, open_alerts, resolved_alerts'.split(
    ', ',
  );

/**
 * One statement that empties all tables and lets their ids begin anew. TRUNCATE makes every table and index a new file and every plan stale, which
 * took longer than most tests.
 */
async function emptyingStatement({ dataSource }: Stores): Promise<string> {
  const sequences = (await dataSource.query(
    `SELECT s.oid::regclass::text AS name FROM pg_class s JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i')
      WHERE s.relkind = 'S' AND d.refobjid::regclass::text = ANY ($1)`,
    [TABLES],
  )) as Array<{ name: string }>;
  const deletes = TABLES.map((table) => `d_${table} AS (DELETE FROM ${table})`);
  return `WITH ${deletes.join(', ')} SELECT ${sequences.map(({ name }) => `setval('${name}', 1, false)`).join(', ')}`;
}

/** Stores on a database of their own, tables made; `embedded` lives in memory. */
export async function openTestStores(kind: 'embedded' | 'postgres'): Promise<TestStores> {
  if (kind === 'embedded') await ensureEmbeddedTemplate();
  const database = kind === 'postgres' ? await createTestDatabase() : null;
  const config: StoreConfig = database
    ? { kind: 'postgres', url: new Secret(database.url) }
    : { kind: 'embedded', dir: ':memory:' };
  watchStatements();
  const stores = await openStores(config);
  await stores.migrate();
  if (kind === 'postgres') watchMethods(stores);
  const keep = async (): Promise<void> => (kind === 'postgres' ? keepStatements(stores.dataSource) : undefined);
  const emptying = await emptyingStatement(stores);
  return {
    stores,
    config,
    reset: async () => {
      await keep();
      await stores.dataSource.query(emptying);
    },
    close: async () => {
      await keep();
      await stores.close();
      await database?.drop();
    },
  };
}
