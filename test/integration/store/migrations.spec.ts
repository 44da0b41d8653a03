import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { silentLogger, type Logger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { arrivalRows, eventRows, attemptRows, intentRows } from '../../../src/store/rows.js';
import { MIGRATIONS } from '../../../src/store/migrations/index.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { embeddedDataSource } from '../../../src/store/data-source.js';
import { openEmbedded } from '../../../src/store/embedded/open-embedded.js';
import { appliedMigrations, migrate } from '../../../src/store/migrate.js';
import { aDelivery } from '../../builders/arrivals.js';
import {
  createTestDatabase,
  describeOnPostgres,
  ensureEmbeddedTemplate,
  openTestStores,
  type TestDatabase,
  type TestStores,
} from '../../services/test-stores.js';
import { canMount, smallDisk } from '../support/small-disk.js';

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`database/migrations: ${kind}`, () => {
    let test: TestStores;
    beforeAll(async () => {
      test = await openTestStores(kind);
    });
    afterAll(() => test?.close());

    it('make the tables and columns that the entities describe', async () => {
      const wanted = await test.stores.dataSource.driver.createSchemaBuilder().log();

      // Indexes, constraints, identities and collations are the migrations' own; TypeORM cannot say all of them.
      const differences = wanted.upQueries
        .map(({ query }) => query)
        .filter(
          (query) =>
            /CREATE TABLE|DROP TABLE|(ADD|DROP) "|(SET|DROP) NOT NULL|TYPE /.test(query) &&
            !/SEQUENCE|CONSTRAINT|IDENTITY|COLLATE/.test(query),
        );
      expect(differences).toEqual([]);
    });

    it('make no table and no column that has no entity, and have all that the entities name', async () => {
      const { dataSource } = test.stores;
      const columns = await dataSource.query<Array<{ name: string }>>(`
        SELECT c.table_name || '.' || c.column_name AS name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND t.table_name <> 'migrations'`);
      const named = dataSource.entityMetadatas.flatMap(({ tableName, columns: own }) =>
        own.map(({ databaseName }) => `${tableName}.${databaseName}`),
      );

      expect(columns.map(({ name }) => name).sort()).toEqual(named.sort());
    });

    it.each([
      ['arrivals', arrivalRows],
      ['events', eventRows],
      ['intents', intentRows],
      ['attempts', attemptRows],
    ])('make the columns of %s that are read without TypeORM, each as its entity reads it', (table, rows) => {
      const { columns } = test.stores.dataSource.getMetadata(table);
      const row = Object.fromEntries(columns.map(({ propertyName }) => [propertyName, '{"a":1}']));

      expect([...rows.names].sort()).toEqual(columns.map(({ propertyName }) => propertyName).sort());
      expect(rows.decode({ ...row })).toEqual(
        Object.fromEntries(
          columns.map(({ propertyName, transformer }) => [propertyName, transformer ? { a: 1 } : '{"a":1}']),
        ),
      );
    });

    it('do nothing the second time', async () => {
      await test.stores.migrate();

      expect(await test.stores.dataSource.showMigrations()).toBe(false);
    });

    it('refuse tables that a newer version made, before they change any, and say what to do', async () => {
      const { stores } = test;
      const [last] = await stores.dataSource.query<Array<{ timestamp: string; name: string }>>(
        'SELECT timestamp, name FROM migrations ORDER BY id DESC LIMIT 1',
      );
      await stores.dataSource.query(`UPDATE migrations SET name = 'FromTheFuture' WHERE name = $1`, [last?.name]);

      await expect(stores.migrate()).rejects.toMatchObject({
        code: 'STORE_IS_NEWER',
        message: expect.stringMatching(
          /made by a newer version \(FromTheFuture is not known to .*\): start that version, or restore a backup/,
        ),
      });

      expect(await stores.dataSource.query(`SELECT name FROM migrations WHERE name = $1`, [last?.name])).toEqual([]);
      await stores.dataSource.query(`UPDATE migrations SET name = $1 WHERE name = 'FromTheFuture'`, [last?.name]);
    });
  });
}

describeOnPostgres('database/migrations', () => {
  let database: TestDatabase;
  let stores: Stores[];

  beforeAll(async () => {
    database = await createTestDatabase();
    await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    stores = await Promise.all(
      Array.from({ length: 4 }, () => openStores({ kind: 'postgres', url: new Secret(database.url) }, { poolSize: 2 })),
    );
  });

  afterAll(async () => {
    await Promise.all(stores.map((each) => each.close()));
    await database.drop();
  });

  async function query(sql: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query(sql)).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  it('run once when several processes start at once', async () => {
    await Promise.all(stores.map((each) => each.migrate()));

    expect(await query('SELECT count(*)::int AS n, count(DISTINCT name)::int AS names FROM migrations')).toEqual([
      { n: MIGRATIONS.length, names: MIGRATIONS.length },
    ]);
  });
});

describe('database/migrations: an upgrade of an embedded store', () => {
  const said: Array<Record<string, unknown>> = [];
  const logger: Logger = { ...silentLogger, info: (facts: object, msg?: string) => void said.push({ ...facts, msg }) };
  let dir: string;

  /** As the next version would have it; `Second` fails as long as it is told to. */
  let isFailing: boolean;
  class First9999999999001 extends saying('CREATE TABLE notes (text text)') {}
  class Second9999999999002 extends saying('UPDATE arrivals SET hook = hook') {
    override async up(runner: QueryRunner): Promise<void> {
      await super.up(runner);
      if (isFailing) await runner.query('SELECT 1 / 0');
    }
  }
  const NEXT = [...MIGRATIONS, First9999999999001, Second9999999999002];

  async function upgrade(folder: string | null): Promise<string[]> {
    const embedded = await openEmbedded(dir);
    const dataSource = await embeddedDataSource(embedded, silentLogger, NEXT).initialize();
    try {
      await migrate(dataSource, { lock: false, logger, folder });
    } finally {
      said.push({ applied: (await appliedMigrations(dataSource)).slice(MIGRATIONS.length) });
      await dataSource.destroy();
      await embedded.close();
    }
    return (said.at(-1)?.['applied'] ?? []) as string[];
  }

  beforeEach(async () => {
    await ensureEmbeddedTemplate();
    said.length = 0;
    isFailing = false;
    dir = mkdtempSync(join(tmpdir(), 'fh-upgrade-'));
    const stores = await openStores({ kind: 'embedded', dir });
    await stores.migrate();
    await stores.inbox.storeDeliveries(Array.from({ length: 500 }, () => aDelivery()));
    await stores.close();
  });

  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('says how much is to be done and what it takes, and goes on where it was interrupted', async () => {
    isFailing = true;
    await expect(upgrade(dir)).rejects.toThrow('division by zero');
    const after = said.splice(0);
    isFailing = false;
    await upgrade(dir);

    expect(after).toEqual([
      {
        msg: 'store.migrating',
        pending: 2,
        first: 'First9999999999001',
        needed_bytes: expect.any(Number),
        free_bytes: expect.any(Number),
      },
      { applied: ['First9999999999001'] },
    ]);
    expect(after[0]?.['needed_bytes']).toBeGreaterThan(100_000);
    expect(said).toEqual([
      expect.objectContaining({ pending: 1, first: 'Second9999999999002' }),
      { applied: ['First9999999999001', 'Second9999999999002'] },
    ]);
  });

  (canMount ? it : it.skip)('is refused on a disk without the room, before anything is changed', async () => {
    const disk = smallDisk(1);
    disk.fill();
    try {
      await expect(upgrade(disk.folder)).rejects.toMatchObject({
        code: 'NO_ROOM_TO_MIGRATE',
        message: expect.stringMatching(/^2 migrations are pending, which take up to \d+ MB/),
      });
      expect(said.at(-1)).toEqual({ applied: [] });
    } finally {
      disk.remove();
    }
  });
});

function saying(statement: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query(statement);
    }
    async down(): Promise<void> {}
  };
}
