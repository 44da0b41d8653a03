import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { StoreUnavailable } from '../../../src/core/errors.js';
import { Secret } from '../../../src/core/secret.js';
import { openStores } from '../../../src/store/open-stores.js';
import { aDelivery } from '../../builders/arrivals.js';
import { canStartOwnPostgres, startOwnPostgres } from '../../services/own-server.mjs';
import { until } from '../../services/until.js';

const cleanUps: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function connected(url: string): Promise<pg.Client | null> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    expect((error as { code?: string }).code).toBe('53300');
    return null;
  }
}

(canStartOwnPostgres ? describe : describe.skip)('database/a server whose connections are all taken by others', () => {
  it('stores nothing and says so, and stores again by itself once there is room', async () => {
    const server = await startOwnPostgres({ max_connections: '12' });
    cleanUps.push(() => server.stop());
    const stores = await openStores({ kind: 'postgres', url: new Secret(server.url) });
    cleanUps.push(() => stores.close());
    await stores.migrate();
    const before = aDelivery();
    await stores.inbox.storeDeliveries([before]);

    const others: pg.Client[] = [];
    const takeAll = async (): Promise<void> => {
      for (let client = await connected(server.url); client; client = await connected(server.url)) others.push(client);
    };
    await takeAll();
    // Those that we hold are ended, and taken as well.
    const pids = await Promise.all(
      others.map(
        async (client) => (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid,
      ),
    );
    await others[0]?.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> ALL ($1)`,
      [pids],
    );
    const refused = aDelivery();
    let failure: unknown = null;
    await until(async () => {
      await takeAll();
      failure = await stores.inbox.storeDeliveries([refused]).then(
        () => null,
        (error: unknown) => error,
      );
      return failure !== null;
    });
    expect(failure).toBeInstanceOf(StoreUnavailable);

    await Promise.all(others.map((client) => client.end()));

    const after = aDelivery();
    await until(async () =>
      stores.inbox.storeDeliveries([after]).then(
        () => true,
        () => false,
      ),
    );
    expect(await stores.inbox.dueArrivals(9)).toEqual(expect.arrayContaining([before.id, after.id]));
  });
});
