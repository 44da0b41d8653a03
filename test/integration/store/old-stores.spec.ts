import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { AuditPage } from '../../../src/housekeeping/audit/audit-check.js';
import { auditKey, checkPage } from '../../../src/housekeeping/audit/audit-check.js';
import type { StoreConfig } from '../../../src/config/app-config.js';
import { Encryptor } from '../../../src/core/encryptor.js';
import { Secret } from '../../../src/core/secret.js';
import { MIGRATIONS } from '../../../src/store/migrations/index.js';
import { openStores } from '../../../src/store/open-stores.js';
import { openWhole } from '../../../src/store/whole-store.js';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type TestForge } from '../support/a-forge.js';

const LONG_MS = 300_000;
const FIXTURES = join(import.meta.dirname, '../../fixtures/stores');
const fixture = (name: string): Buffer => readFileSync(join(FIXTURES, name));
const unpacked = (name: string): Buffer => brotliDecompressSync(fixture(name));
const SECRETS = JSON.parse(fixture('secrets.json').toString()) as Record<string, string>;
const WORLD = JSON.parse(fixture('world.json').toString()) as { before: string[]; during: string[] };

/** States of the intents that the old program left. */
const LEFT = [
  'cancelled',
  'claimed',
  'done',
  'planned',
  'refused',
  'sent',
  'suppressed',
  'unchanged',
  'unknown',
  'waiting',
];
/** Tables of the old program that have rows. */
const FILLED = [
  'arrivals',
  'arrival_events',
  'attempts',
  'audit_links',
  'budget_uses',
  'cursors',
  'echoes',
  'events',
  'findings',
  'gaps',
  'intents',
  'pauses',
  'plans',
  'revisions',
  'runs',
];
/**
 * Columns that a migration changes on purpose: what a spent budget holds is out of the lanes since 1763900400000, and the JSON text of a form is
 * read from its body since 1763902200000.
 */
const CHANGED = new Set(['intents.held', 'intents.due_at', 'arrivals.json_text']);

/** What migrations gave another name, since the old program: a name of then -> that of today. */
const RENAMED: Readonly<Record<string, string>> = {
  beats: 'heartbeats',
  work_in_hand: 'work_in_progress',
  'events.told_by': 'reported_by',
  'events.talk_hash': 'discussion_hash',
  'undone.told': 'summary',
  'intents.upkeep': 'background',
};

type Ask = (sql: string, params?: unknown[]) => Promise<Array<Record<string, unknown>>>;
/** Table -> its columns. */
type Tables = Map<string, string[]>;

interface OldStore {
  readonly config: StoreConfig;
  /** As the operator writes it. */
  readonly written: object;
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

function embedded(): Promise<OldStore> {
  const dir = mkdtempSync(join(tmpdir(), 'fh-old-store-'));
  execFileSync('tar', ['-xf', '-', '-C', dir], { input: unpacked('embedded.tar.br') });
  return Promise.resolve({
    config: { kind: 'embedded', dir },
    written: { url: `embedded:${dir}` },
    env: {},
    remove: async () => rmSync(dir, { recursive: true, force: true }),
  });
}

async function postgres(): Promise<OldStore> {
  const database: TestDatabase = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.query(unpacked('postgres.sql.br').toString());
  await client.end();
  return {
    config: { kind: 'postgres', url: new Secret(database.url) },
    written: { url: { env: 'OLD_STORE_URL' } },
    env: { OLD_STORE_URL: database.url },
    remove: () => database.drop(),
  };
}

/** @returns what the work answers; the tables are not brought up to date */
async function asking<T>({ config }: OldStore, work: (ask: Ask) => Promise<T>): Promise<T> {
  const whole = await openWhole(config);
  try {
    return await work((sql, params) => whole.dataSource.query(sql, params));
  } finally {
    await whole.close();
  }
}

async function tablesOf(ask: Ask): Promise<Tables> {
  const rows = await ask(`
    SELECT c.table_name AS "table", c.column_name AS "column" FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
    WHERE c.table_schema = 'public' AND c.table_name <> 'migrations' ORDER BY 1, 2`);
  const tables: Tables = new Map();
  for (const { table, column } of rows as Array<{ table: string; column: string }>)
    if (!CHANGED.has(`${table}.${column}`)) tables.set(table, [...(tables.get(table) ?? []), column]);
  return tables;
}

/**
 * A digest of each row, over these columns.
 * @param names where tables and columns have other names by now
 */
async function digests(ask: Ask, tables: Tables, names = {} as typeof RENAMED): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const [table, columns] of tables) {
    const listed = columns.map((column) => `"${names[`${table}.${column}`] ?? column}" AS "${column}"`).join(', ');
    const from = names[table] ?? table;
    const rows = await ask(`SELECT md5(to_jsonb(t)::text) AS row FROM (SELECT ${listed} FROM "${from}") t ORDER BY 1`);
    found[table] = rows.map(({ row }) => row);
  }
  return found;
}

/** As if the old program had been killed two hours ago, whenever the store was made: windows, leases and budgets of an hour have passed. */
async function madeTwoHoursAgo(ask: Ask): Promise<void> {
  const [made] = await ask(`SELECT now() - interval '2 hours' - max(arrived_at) AS late FROM arrivals`);
  const columns = await ask(`
    SELECT c.table_name AS "table", string_agg(format('%1$I = %1$I + $1::interval', c.column_name), ', ') AS "set" FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
    WHERE c.table_schema = 'public' AND c.data_type = 'timestamp with time zone' GROUP BY 1`);
  for (const { table, set } of columns as Array<{ table: string; set: string }>)
    await ask(`UPDATE "${table}" SET ${set}`, [made?.['late']]);
}

const statesOf = async (ask: Ask): Promise<unknown[]> =>
  (await ask('SELECT DISTINCT state FROM intents ORDER BY 1')).map(({ state }) => state);

for (const [kind, describeIt, unpack] of [
  ['embedded', describe, embedded],
  ['postgres', describeOnPostgres, postgres],
] as const) {
  describeIt(`a store that an old version left in the middle of its work: ${kind}`, () => {
    let store: OldStore;
    let forge: TestForge;
    let bot: TestBot | null = null;

    beforeAll(async () => {
      store = await unpack();
      forge = await aForge({ org: 'acme' });
    }, LONG_MS);

    afterAll(async () => {
      await bot?.close();
      await forge?.close();
      await store?.remove();
    }, LONG_MS);

    it(
      'has all kinds of rows, and each is the same after the migrations',
      async () => {
        const before = await asking(store, async (ask) => {
          expect(await statesOf(ask)).toEqual(LEFT);
          const tables = await tablesOf(ask);
          return { tables, rows: await digests(ask, tables) };
        });
        expect(FILLED.filter((table) => (before.rows[table]?.length ?? 0) === 0)).toEqual([]);

        const stores = await openStores(store.config);
        await stores.migrate();
        await stores.close();

        await asking(store, async (ask) => {
          expect(await digests(ask, before.tables, RENAMED)).toEqual(before.rows);
          expect(await ask('SELECT count(*)::int AS n FROM migrations')).toEqual([{ n: MIGRATIONS.length }]);
          // Its policies go on as they did: none is new to it.
          expect(await ask('SELECT org, policy FROM trusted_policies')).toEqual([{ org: 'acme', policy: '' }]);
        });
      },
      LONG_MS,
    );

    it(
      'keeps an audit chain that the new version verifies',
      async () => {
        const stores = await openStores(store.config);
        try {
          const key = auditKey(new Encryptor(new Secret(SECRETS['FORGEHAND_DATA_KEY'] ?? '')));
          const page: AuditPage = await checkPage(stores.audit, key, 'acme', 0, 1_000);
          expect(page).toMatchObject({ broken: null, again: [], isEnd: true });
          expect(page.checked).toBeGreaterThan(3);
        } finally {
          await stores.close();
        }
      },
      LONG_MS,
    );

    it(
      'goes on: a delivery is decided and done, and each intent that was open ends',
      async () => {
        await asking(store, madeTwoHoursAgo);
        for (const repo of [...WORLD.before, ...WORLD.during]) await forge.act('repository.create', { repo });
        bot = await aBot({
          config: {
            ...acmeConfig(forge, {
              org: {
                secrets: { mirror_token: { env: 'MIRROR_TOKEN' } },
                mirror_hosts: ['mirror.example.org'],
                tasks: { calls_per_poll: 0 },
              },
            }),
            store: store.written,
            keys: { data: { env: 'FORGEHAND_DATA_KEY' } },
          },
          files: { 'rules/rules.yaml': fixture('rules.yaml').toString() },
          env: { ...store.env, ...SECRETS, HOOK: SECRETS['HOOK_SECRET'] ?? '', FORGE_TOKEN: forge.botToken },
        });
        await forge.hook(`${bot.url}/webhooks/acme`, SECRETS['HOOK_SECRET'] ?? '');
        const { reach } = bot;
        const intents = async (): Promise<Record<string, number>> =>
          (await reach.get<{ intents: Record<string, number> }>('/v1/status')).intents;

        expect(await intents()).toMatchObject({ waiting: 1 });
        const [waiting] = await reach.get<Array<{ id: string }>>('/v1/approvals');
        // One by a person, and one by the breaker of a rule whose budget was spent.
        for (const scope of [{ org: 'acme' }, { org: 'acme', rule: 'spend' }]) await reach.post('/v1/resume', scope);
        await reach.post(`/v1/approvals/${waiting?.id}`, {});
        await forge.act('repository.create', { repo: 'acme/new' });
        const labelsOf = async (repo: string): Promise<string[]> =>
          (await forge.get<Array<{ name: string }>>(`/repos/acme/${repo}/labels`)).map(({ name }) => name).sort();
        await until(async () => (await labelsOf('new')).includes('hello'));
        await until(async () => {
          const now = await intents();
          return ['planned', 'claimed', 'sent', 'unknown', 'waiting'].every((state) => now[state] === 0);
        });

        expect(await intents()).toMatchObject({ dead: 0, conflict: 0, refused: 1 });
        for (const repo of ['claimed', 'sent', 'unknown', 'planned', 'new'])
          expect(await labelsOf(repo)).toEqual(['hello']);
        expect((await Promise.all(['held-4', 'held-5'].map(labelsOf))).flat()).toEqual(['two', 'two']);
        expect(await labelsOf('app')).toEqual(['issue-2', 'pushed']);
      },
      LONG_MS,
    );
  });
}
