import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { StoreUnavailable } from '../../../src/core/errors.js';
import { Secret } from '../../../src/core/secret.js';
import { postgresDataSource } from '../../../src/store/data-source.js';
import { Database, execute, executeAtOnce, type Statement } from '../../../src/store/database.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { silentLogger } from '../../../src/core/logger.js';
import { aDelivery } from '../../builders/arrivals.js';
import { canStartOwnPostgres, startOwnPostgres, type OwnServer } from '../../services/own-server.mjs';
import {
  createTestDatabase,
  describeOnPostgres,
  openTestStores,
  type TestDatabase,
  type TestStores,
} from '../../services/test-stores.js';

const fail = (state: string): string => `DO $$ BEGIN RAISE EXCEPTION 'as asked' USING ERRCODE = '${state}'; END $$`;

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`database/transactions: ${kind}`, () => {
    let test: TestStores;
    let db: Database;

    beforeAll(async () => {
      test = await openTestStores(kind);
      db = new Database(test.stores.dataSource);
    });
    beforeEach(() => test.reset());
    afterAll(() => test?.close());

    const insert = `INSERT INTO pauses (org, rule, by, at) VALUES ($1, '', 'ann', now())`;
    const orgs = async (): Promise<string[]> => (await test.stores.journal.paused()).map(({ org }) => org ?? '');

    it.each(['40001', '40P01'])('run again from the start on %s', async (state) => {
      let tries = 0;

      const answer = await db.transaction(async (manager) => {
        await execute(manager, insert, ['acme']);
        if (++tries < 3) await execute(manager, fail(state));
        return tries;
      });

      expect(answer).toBe(3);
      expect(await orgs()).toEqual(['acme']);
    });

    it('are given up after five tries', async () => {
      let tries = 0;

      const failing = db.transaction(async (manager) => {
        tries++;
        await execute(manager, fail('40001'));
      });

      await expect(failing).rejects.toThrow('as asked');
      expect(tries).toBe(5);
    });

    it.each(['53100', '53300', '57014', '57P01', '08006', '25006', '55P03'])(
      'end in "store unavailable" on %s',
      async (state) => {
        await expect(db.transaction((manager) => execute(manager, fail(state)))).rejects.toThrow(StoreUnavailable);
      },
    );

    it('end in an error without values when the database refuses a statement', async () => {
      const refused = db.transaction(async (manager) => {
        await execute(manager, insert, ['very-private']);
        await execute(manager, insert, ['very-private']);
      });

      const error = await refused.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: 'STORE_FAILED', context: { sqlState: '23505', constraint: 'pauses_pkey' } });
      const { inspect } = await import('node:util');
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('very-private');
      expect(await orgs()).toEqual([]);
    });

    describe('sent in one go', () => {
      const atOnce = (...statements: Statement[]) => db.run((manager) => executeAtOnce(manager, statements));
      const pause = (org: string): Statement => ({ sql: insert, params: [org] });
      const count: Statement = { sql: 'SELECT count(*)::int AS n FROM pauses WHERE org <> $1', params: ['none'] };

      it('answer each statement, which sees what those before it did, however often they come', async () => {
        for (const round of [1, 2, 3]) {
          const answers = await atOnce(pause(`one-${round}`), count, pause(`two-${round}`), count);

          expect(answers.map(({ affected }) => affected)).toEqual([1, 1, 1, 1]);
          expect([answers[1]?.rows, answers[3]?.rows]).toEqual([[{ n: 2 * round - 1 }], [{ n: 2 * round }]]);
        }
        expect(await orgs()).toHaveLength(6);
      });

      it('do nothing when one of them fails, and say which', async () => {
        for (const _ of ['full text', 'by name']) {
          const failing = atOnce(pause('acme'), pause('acme'), count);

          await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED', context: { sqlState: '23505' } });
          expect(await orgs()).toEqual([]);
          const { rows } = await db.run((manager) => execute(manager, 'SELECT 1 AS one'));
          expect(rows).toEqual([{ one: 1 }]);
        }
      });

      it.each(['40001', '40P01'])('run again from the start on %s', async (state) => {
        let tries = 0;

        await db.run(async (manager) => {
          const last = ++tries < 3 ? { sql: fail(state), params: [] } : count;
          await executeAtOnce(manager, [pause('acme'), last]);
        });

        expect(tries).toBe(3);
        expect(await orgs()).toEqual(['acme']);
      });
    });

    it('leave nothing open behind an error', async () => {
      const failing = Array.from({ length: 30 }, () => db.transaction((manager) => execute(manager, 'SELECT 1/0')));
      await Promise.allSettled(failing);

      const { rows } = await db.transaction((manager) => execute(manager, 'SELECT 1 AS one'));
      expect(rows).toEqual([{ one: 1 }]);
    });
  });
}

describeOnPostgres('database/transactions: connections that are lost', () => {
  let database: TestDatabase;
  let victim: DataSource;
  let killer: DataSource;
  let db: Database;

  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new Secret(database.url);
    victim = await postgresDataSource(url, { size: 2, statementTimeoutMs: 5_000, logger: silentLogger }).initialize();
    killer = await postgresDataSource(url, { size: 1, statementTimeoutMs: 5_000, logger: silentLogger }).initialize();
    db = new Database(victim);
  });

  afterAll(async () => {
    await victim.destroy();
    await killer.destroy();
    await database.drop();
  });

  const insert = `INSERT INTO pauses (org, rule, by, at) VALUES ($1, '', 'ann', now())`;
  const rows = async (org: string): Promise<unknown[]> =>
    (await killer.query('SELECT 1 FROM pauses WHERE org = $1', [org])) as unknown[];
  const kill = async (pid: number): Promise<unknown> => killer.query('SELECT pg_terminate_backend($1)', [pid]);

  async function insertAndDie(
    manager: Parameters<Parameters<Database['transaction']>[0]>[0],
    org: string,
  ): Promise<string> {
    await execute(manager, insert, [org]);
    const {
      rows: [backend],
    } = await execute<{ pid: number }>(manager, 'SELECT pg_backend_pid() AS pid');
    await kill(backend?.pid ?? 0);
    return org;
  }

  it('at COMMIT, with nothing committed: the transaction is run again', async () => {
    let tries = 0;

    const answer = await db.transaction(
      async (manager) =>
        ++tries === 1 ? insertAndDie(manager, 'again') : (await execute(manager, insert, ['again']), 'second try'),
      async () => undefined,
    );

    expect([answer, tries]).toEqual(['second try', 2]);
    expect(await rows('again')).toHaveLength(1);
  });

  it('at COMMIT, with everything committed: what was read back is the answer', async () => {
    const found = await db.transaction(
      (manager) => insertAndDie(manager, 'read-back'),
      async () => 'found',
    );

    expect(found).toBe('found');
  });

  it('at COMMIT, without a way to read back: the store is not available', async () => {
    await expect(db.transaction((manager) => insertAndDie(manager, 'unknown'))).rejects.toThrow(StoreUnavailable);
  });

  it('in the middle of statements sent in one go: the store is not available, and nothing was done', async () => {
    const dying = db.run((manager) =>
      executeAtOnce(manager, [
        { sql: insert, params: ['in-one-go'] },
        { sql: 'SELECT pg_terminate_backend(pg_backend_pid()) WHERE $1', params: [true] },
        { sql: insert, params: ['behind-it'] },
      ]),
    );

    await expect(dying).rejects.toThrow(StoreUnavailable);
    expect([await rows('in-one-go'), await rows('behind-it')]).toEqual([[], []]);
    const { rows: found } = await db.run((manager) => execute(manager, 'SELECT 1 AS one'));
    expect(found).toEqual([{ one: 1 }]);
  });

  it('while idle in the pool: the next statement takes another', async () => {
    await victim.query('SELECT 1');
    await killer.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );

    // The pool hears of the loss in its own time; until then a statement may fail, and says why.
    const answered = async (): Promise<boolean> =>
      db
        .run((manager) => execute(manager, 'SELECT 1'))
        .then(
          () => true,
          (error: unknown) => !(error instanceof StoreUnavailable),
        );
    let ok = false;
    for (let tries = 0; tries < 100 && !ok; tries++) ok = await answered();

    expect(ok).toBe(true);
  });

  it('when a statement takes too long: the store is not available', async () => {
    const slow = await postgresDataSource(new Secret(database.url), {
      size: 1,
      statementTimeoutMs: 1_000,
      logger: silentLogger,
    }).initialize();

    await expect(new Database(slow).run((manager) => execute(manager, 'SELECT pg_sleep(30)'))).rejects.toThrow(
      StoreUnavailable,
    );

    await slow.destroy();
  });
});

describe('store/transactions: a server that is away', () => {
  it('is "store unavailable" when it was never there', async () => {
    const opening = openStores({
      kind: 'postgres',
      url: new Secret('postgres://nobody:very-private@127.0.0.1:1/none'),
    });

    const error = await opening.then(
      () => null,
      (thrown: unknown) => thrown,
    );

    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(String((error as Error).message)).not.toContain('very-private');
  });

  (canStartOwnPostgres ? it : it.skip)(
    'is "store unavailable" while it restarts, and then nothing stored is lost',
    async () => {
      const server: OwnServer = await startOwnPostgres();
      const stores: Stores = await openStores({ kind: 'postgres', url: new Secret(server.url) });
      await stores.migrate();
      const [before, meanwhile] = [aDelivery(), aDelivery()];
      await stores.inbox.storeDeliveries([before]);

      await server.kill();
      await expect(stores.inbox.storeDeliveries([meanwhile])).rejects.toThrow(StoreUnavailable);
      expect(await stores.ping()).toBe(false);
      await server.restart();

      await stores.inbox.storeDeliveries([before, meanwhile]);

      expect((await stores.inbox.dueArrivals(9)).filter((id) => [before.id, meanwhile.id].includes(id))).toEqual([
        before.id,
        meanwhile.id,
      ]);
      expect(await stores.inbox.dueArrivals(9)).toHaveLength(2);
      await stores.close();
      await server.stop();
    },
    60_000,
  );
});
