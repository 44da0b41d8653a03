import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Secret } from '../../../src/core/secret.js';
import { MIGRATIONS } from '../../../src/store/migrations/index.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { createTestDatabase, describeOnPostgres, openTestStores, type TestDatabase, type TestStores } from '../../services/test-stores.js';

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
        .filter((query) => /CREATE TABLE|DROP TABLE|(ADD|DROP) "|(SET|DROP) NOT NULL|TYPE /.test(query) && !/SEQUENCE|CONSTRAINT|IDENTITY|COLLATE/.test(query));
      expect(differences).toEqual([]);
    });

    it('do nothing the second time', async () => {
      await test.stores.migrate();

      expect(await test.stores.dataSource.showMigrations()).toBe(false);
    });
  });
}

describeOnPostgres('database/migrations', () => {
  let database: TestDatabase;
  let stores: Stores[];

  beforeAll(async () => {
    database = await createTestDatabase();
    await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    stores = await Promise.all(Array.from({ length: 4 }, () => openStores({ kind: 'postgres', url: new Secret(database.url) }, { poolSize: 2 })));
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

  it('refuse tables that a newer version made, in words for people', async () => {
    await query(`INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture')`);

    await expect(stores[0]?.migrate()).rejects.toThrow(/made by a newer version \(FromTheFuture/);
  });
});
