import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { Database, execute, executePlanned, planForValues, PreparedStatements } from '../../../src/store/database.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../../services/test-stores.js';

describeOnPostgres('store/prepared-statements', () => {
  let opened: TestStores;
  let db: Database;

  beforeEach(async () => {
    opened = await openTestStores('postgres');
    db = new Database(opened.stores.dataSource);
  });

  afterEach(() => opened.close());

  const SUM = 'SELECT $1::int + $2::int AS sum';
  const sum = async (manager: EntityManager, a: number, b: number) => {
    const { rows, affected } = await execute<{ sum: number }>(manager, SUM, [a, b]);
    return { sum: rows[0]?.sum, affected };
  };
  const preparedOn = async (manager: EntityManager): Promise<Array<{ name: string; statement: string }>> =>
    (
      await manager.query<Array<{ name: string; statement: string }>>(
        'SELECT name, statement FROM pg_prepared_statements',
      )
    ).filter(({ statement }) => statement === SUM);

  it('prepares what comes a second time, once by a connection, with a plan for any values', async () => {
    await db.run(async (manager) => {
      expect(await sum(manager, 1, 2)).toEqual({ sum: 3, affected: 1 });
      expect(await preparedOn(manager)).toEqual([]);
      expect(await sum(manager, 3, 4)).toEqual({ sum: 7, affected: 1 });
      expect(await sum(manager, 5, 6)).toEqual({ sum: 11, affected: 1 });
      expect(await preparedOn(manager)).toHaveLength(1);
      const counts = await manager.query<unknown[]>(
        'SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1',
        [SUM],
      );
      expect(counts).toEqual([{ generic_plans: '2', custom_plans: '0' }]);
    });
  });

  it.each([
    ['has forgotten the name', (manager: EntityManager) => manager.query('DEALLOCATE ALL')],
    [
      'knows the name from another client',
      async (manager: EntityManager) => {
        const name = (await preparedOn(manager))[0]?.name ?? '';
        const client = (await manager.queryRunner?.connect()) as {
          connection: { parsedStatements: Record<string, string> };
        };
        delete client.connection.parsedStatements[name];
      },
    ],
  ] as const)(
    'goes on without names where the connection behind a pooler %s, alone and in a transaction',
    async (_title, disturb) => {
      for (const way of ['run', 'transaction'] as const) {
        const fresh = await openTestStores('postgres');
        const mine = new Database(fresh.stores.dataSource);
        try {
          let tries = 0;
          await mine.run(async (manager) => {
            await sum(manager, 0, 0);
            await sum(manager, 0, 0);
            await disturb(manager);
          });
          const found = await mine[way](async (manager) => {
            tries += 1;
            return [await sum(manager, 1, 2), await sum(manager, 3, 4)];
          });
          expect(found).toEqual([
            { sum: 3, affected: 1 },
            { sum: 7, affected: 1 },
          ]);
          expect(tries).toBe(way === 'run' ? 1 : 2);
        } finally {
          await fresh.close();
        }
      }
    },
  );

  const PLANNED = `SELECT current_setting('plan_cache_mode') AS plans, current_setting('jit') AS jit, $1::int AS n`;
  const settings = async (manager: EntityManager, run: typeof executePlanned = execute) =>
    (await run<{ plans: string; jit: string }>(manager, PLANNED, [1])).rows[0];

  it('never compiles a statement, and plans for the values where it is told to, until the end of the transaction', async () => {
    const forAll = { plans: 'force_generic_plan', jit: 'off', n: 1 };
    const forValues = { ...forAll, plans: 'force_custom_plan' };

    await db.run(async (manager) => {
      for (let n = 0; n < 3; n += 1) expect(await settings(manager)).toEqual(forAll);
      expect(await settings(manager, executePlanned)).toEqual(forValues);
      expect(await settings(manager)).toEqual(forAll);
    });
    await db.transaction(async (manager) => {
      await planForValues(manager);
      expect(await settings(manager)).toEqual(forValues);
    });
    await db.run(async (manager) => expect(await settings(manager)).toEqual(forAll));
  });

  it('lets plans go, for tables grow: after half a second, then after twice as long each time, at most half a minute', async () => {
    let now = 0;
    const prepared = new PreparedStatements(() => now);
    const discardedAt: number[] = [];
    const query = async ({ text }: { text: string }) => {
      if (text.startsWith('DISCARD PLANS')) discardedAt.push(now);
      return { rows: [], rowCount: 0 };
    };
    const names = new Set<string | undefined>();
    const first = await prepared.queryOf({ query }, SUM, [1, 2]);
    const client = { query };
    for (now = 0; now < 100_000; now += 500) names.add((await prepared.queryOf(client, SUM, [1, 2])).name);

    expect(first.name).toBeUndefined();
    expect(names.size).toBe(1);
    expect(discardedAt).toEqual([500, 1_500, 3_500, 7_500, 15_500, 31_500, 61_500, 91_500]);
  });

  it('gives no name to what has no values, nor to more than five hundred texts', async () => {
    const prepared = new PreparedStatements();
    const client = { query: async () => ({ rows: [], rowCount: 0 }) };
    const isNamed = async (text: string, values: unknown[]) =>
      (await prepared.queryOf(client, text, values)).name !== undefined;

    for (let n = 0; n < 3; n += 1) expect(await isNamed('SELECT 1; SELECT 2', [])).toBe(false);
    for (const _ of ['first', 'second']) for (let n = 0; n < 501; n += 1) await isNamed(`SELECT ${n} + $1`, [1]);

    expect(await isNamed('SELECT 499 + $1', [1])).toBe(true);
    expect(await isNamed('SELECT 500 + $1', [1])).toBe(false);
  });

  it('tells errors as any statement does, without the values', async () => {
    const failing = () =>
      db.run((manager) =>
        execute(manager, `SELECT 1 / ($1::int - $1::int) AS none, $2::text AS secret`, [1, 'hunter2']),
      );
    await failing().catch(() => undefined);

    const failed = failing();

    await expect(failed).rejects.toMatchObject({ code: 'STORE_FAILED', context: { sqlState: '22012' } });
    await expect(failed).rejects.not.toThrow('hunter2');
  });

  it('keeps NUL out of text', async () => {
    const echo = () =>
      db.run((manager) => execute<{ told: string[] }>(manager, 'SELECT $1::text[] AS told', [['a\0b', 'c']]));
    await echo();

    expect((await echo()).rows).toEqual([{ told: ['a\uFFFDb', 'c'] }]);
  });
});
