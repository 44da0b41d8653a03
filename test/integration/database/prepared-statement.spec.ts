import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../src/database/database.js';
import { PreparedStatement } from '../../../src/database/prepared-statement.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../../services/test-stores.js';

describeOnPostgres('database/prepared-statement', () => {
  let opened: TestStores;
  let db: Database;

  beforeAll(async () => {
    opened = await openTestStores('postgres');
    db = new Database(opened.stores.dataSource);
  });

  afterAll(() => opened.close());

  const sum = (statement: PreparedStatement, manager: EntityManager, a: number, b: number) =>
    statement.run<{ sum: number }>(manager, [a, b]).then(({ rows, affected }) => ({ sum: rows[0]?.sum, affected }));
  const namesOn = async (manager: EntityManager): Promise<string[]> =>
    (await manager.query<Array<{ name: string }>>('SELECT name FROM pg_prepared_statements')).map(({ name }) => name);

  it('is prepared once by a connection and run as often as asked', async () => {
    const statement = new PreparedStatement('adds_once', 'SELECT $1::int + $2::int AS sum');

    await db.run(async (manager) => {
      expect(await sum(statement, manager, 1, 2)).toEqual({ sum: 3, affected: 1 });
      expect(await sum(statement, manager, 3, 4)).toEqual({ sum: 7, affected: 1 });
      expect((await namesOn(manager)).filter((name) => name === 'adds_once')).toHaveLength(1);
    });
  });

  it.each([
    [
      'has forgotten the name',
      'adds_lost',
      async (statement: PreparedStatement, manager: EntityManager) => {
        await sum(statement, manager, 0, 0);
        await manager.query('DEALLOCATE ALL');
      },
    ],
    [
      'knows the name from another client',
      'adds_twice',
      async (_: PreparedStatement, manager: EntityManager) => {
        await manager.query('PREPARE adds_twice AS SELECT 1');
      },
    ],
  ] as const)('goes on without a name where the connection behind a pooler %s', async (_title, name, disturb) => {
    const statement = new PreparedStatement(name, 'SELECT $1::int + $2::int AS sum');

    await db.run(async (manager) => {
      await disturb(statement, manager);
      expect(await sum(statement, manager, 1, 2)).toEqual({ sum: 3, affected: 1 });
      await manager.query('DEALLOCATE ALL');
      expect(await sum(statement, manager, 3, 4)).toEqual({ sum: 7, affected: 1 });
      expect(await namesOn(manager)).not.toContain(name);
    });
  });

  it('tells errors as any statement does, without the values', async () => {
    const statement = new PreparedStatement('fails', `SELECT 1 / ($1::int - $1::int) AS none, $2::text AS secret`);

    const failed = db.run((manager) => statement.run(manager, [1, 'hunter2']));

    await expect(failed).rejects.toMatchObject({ code: 'STORE_FAILED', context: { sqlState: '22012' } });
    await expect(failed).rejects.not.toThrow('hunter2');
  });

  it('keeps NUL out of text', async () => {
    const statement = new PreparedStatement('echoes', 'SELECT $1::text[] AS told');

    const { rows } = await db.run((manager) => statement.run<{ told: string[] }>(manager, [['a\0b', 'c']]));

    expect(rows).toEqual([{ told: ['a\uFFFDb', 'c'] }]);
  });
});
