import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { Secret } from '../../../src/core/secret.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { DEFAULT_WRITER_LIMITS } from '../../../src/pipeline/receive.js';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { aReceiver, type Answered, type TestReceiver } from '../support/a-receiver.js';

describeOnPostgres('database/a server that is slow', () => {
  let database: TestDatabase;
  let admin: pg.Client;
  let stores: Stores;
  let receiver: TestReceiver;
  const taken: string[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(`
      CREATE TABLE slowness AS SELECT 0::float AS seconds;
      CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep((SELECT seconds FROM slowness));
        RETURN NULL;
      END $$;
      CREATE TRIGGER be_slow BEFORE INSERT ON arrivals FOR EACH STATEMENT EXECUTE FUNCTION be_slow()`);
    stores = await openStores({ kind: 'postgres', url: new Secret(database.url) });
    receiver = await aReceiver(stores);
  });

  afterAll(async () => {
    await receiver.close();
    await stores.close();
    await admin.end();
    await database.drop();
  });

  const perStatement = (seconds: number): Promise<unknown> =>
    admin.query('UPDATE slowness SET seconds = $1', [seconds]);

  async function post(): Promise<Answered> {
    const answer = await receiver.post();
    if (answer.id !== null) taken.push(answer.id);
    return answer;
  }

  const many = async (count: number): Promise<Answered[]> => Promise.all(Array.from({ length: count }, post));
  const shed = (answers: readonly Answered[]): Answered[] => answers.filter(({ id }) => id === null);

  it.each([
    // Three commits one after the other: what is in the third would be answered after six seconds, and the forge waits for five.
    ['two seconds for each statement', 2, 2 * DEFAULT_WRITER_LIMITS.maxBatch + 50],
    ['a minute for each statement', 60, 10],
  ])(
    'that takes %s is given up by acknowledgements, which say 503 with a time, and is used again by itself',
    async (_what, seconds, count) => {
      expect((await post()).status).toBe(202);
      await perStatement(seconds);

      const answers = await many(count);

      expect(answers).toHaveLength(count);
      expect(new Set(shed(answers).map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(
        new Set(['503 5']),
      );

      await perStatement(0);
      await until(async () => (await post()).status === 202);
      expect(shed(await many(20))).toEqual([]);
      const stored = new Set((await stores.inbox.list({ limit: 1000 })).map(({ id }) => id));
      expect(taken.filter((id) => !stored.has(id))).toEqual([]);
    },
    120_000,
  );

  it('whose connections go silent without an end is given up the same way, and used again by connections that are new', async () => {
    const url = new URL(database.url);
    const { hostname, port } = url;
    const sockets = new Set<Socket>();
    let swallows = new Set<Socket>();
    const between = createServer((client) => {
      const onward = connect(Number(port), hostname);
      for (const [one, other] of [
        [client, onward],
        [onward, client],
      ] as const) {
        sockets.add(one.on('error', () => undefined).on('close', () => other.destroy()));
        one.on('data', (bytes: Buffer) => void (swallows.has(one) || other.write(bytes)));
      }
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`;
    const behind = await openStores({ kind: 'postgres', url: new Secret(url.href) });
    const route = await aReceiver(behind);
    expect((await route.post()).status).toBe(202);

    swallows = new Set(sockets);
    expect(await route.post()).toMatchObject({ status: 503, retryAfter: '5' });

    await until(async () => (await route.post()).status === 202);
    await route.close();
    await behind.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => between.close(resolve));
  });
});
