import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Logger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { Lines } from '../../../src/queue/lines.js';
import { NotifyBell } from '../../../src/queue/notify-bell.js';
import { openStores } from '../../../src/store/open-stores.js';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../../services/test-stores.js';
import { until } from '../../services/until.js';

let database: TestDatabase;
const cleanUps: Array<() => unknown> = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await database.drop();
});

/** One process: its lines over a store of its own, and the messages it logged. */
async function aProcess() {
  const logged: string[] = [];
  const log = (_facts: object, message: string): void => void logged.push(message);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const stores = await openStores({ kind: 'postgres', url: new Secret(database.url) });
  if (!stores.notifications) throw new Error('a server has notifications');
  const queue = new Lines(logger, new NotifyBell(stores.notifications, logger));
  cleanUps.push(async () => {
    await queue.close(1_000);
    await stores.close();
  });
  return { queue, stores, logged };
}

async function aWorker() {
  const worker = { ...(await aProcess()), heard: [] as string[] };
  await worker.queue.serve('arrivals', 2, async (org) => worker.heard.push(org) < 0);
  await until(() => worker.logged.includes('queue.rings-flow'));
  return worker;
}

describeOnPostgres('queue/notify bell', () => {
  it('rings in every process that serves the topic, and in none that serves another', async () => {
    const [receiver, one, other] = [await aProcess(), await aWorker(), await aWorker()];
    await receiver.queue.serve('events', 1, async () => Promise.reject(new Error('nobody rang')));

    for (let n = 0; n < 100; n += 1) receiver.queue.ring('arrivals', 'acme');
    receiver.queue.ring('arrivals', 'an org, of a sort');

    await until(() => one.heard.length >= 2 && other.heard.length >= 2);
    for (const { heard } of [one, other]) expect(new Set(heard)).toEqual(new Set(['acme', 'an org, of a sort']));
    expect(receiver.logged.filter((message) => message !== 'queue.rings-flow')).toEqual([]);
  });

  it('listens again after its connection was ended', async () => {
    const [receiver, worker] = [await aProcess(), await aWorker()];
    const listening = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
    await receiver.stores.dataSource.query(listening);
    await until(() => worker.logged.filter((message) => message === 'queue.rings-flow').length === 2);

    receiver.queue.ring('arrivals', 'acme');

    await until(() => worker.heard.length === 1);
    expect(worker.logged).toContain('queue.listener-lost');
  });

  it('takes anything that somebody else sends, and gives turns to known topics alone', async () => {
    const [receiver, worker] = [await aProcess(), await aWorker()];
    const { dataSource } = receiver.stores;
    for (const text of ['', 'arrivals', '{"does":"wake"}', 'intents acme', 'x'.repeat(7_000), "arrivals' OR 1=1"])
      await dataSource.query(`SELECT pg_notify('forgehand', $1)`, [text]);

    receiver.queue.ring('arrivals', 'behind them');

    await until(() => worker.heard.includes('behind them'));
    expect(worker.heard).toEqual(['', 'behind them']);
    expect(worker.logged).toEqual(['queue.rings-flow']);
  });
});
