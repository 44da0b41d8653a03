import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Logger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { NotifyingQueue } from '../../../src/queue/notifying-queue.js';
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

/** One process: a queue over a store of its own, and the messages it logged. */
interface Process {
  readonly queue: NotifyingQueue;
  readonly logged: string[];
}

async function aProcess(): Promise<Process> {
  const logged: string[] = [];
  const log = (_facts: object, message: string): void => void logged.push(message);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const stores = await openStores({ kind: 'postgres', url: new Secret(database.url) });
  if (!stores.notifications) throw new Error('a server has notifications');
  const queue = new NotifyingQueue(stores.notifications, logger);
  cleanUps.push(async () => {
    await queue.close(1_000);
    await stores.close();
  });
  return { queue, logged };
}

interface Worker extends Process {
  readonly heard: string[];
  /** How often it was told to look for what it may have missed. */
  looks: number;
}

/** A process that consumes, once it hears. */
async function aWorker(places: number, handle: (id: string) => Promise<void> = async () => undefined): Promise<Worker> {
  const worker: Worker = { ...(await aProcess()), heard: [], looks: 0 };
  worker.queue.whenMissed(() => (worker.looks += 1));
  await worker.queue.consume('arrival', places, async (id) => {
    worker.heard.push(id);
    await handle(id);
  });
  await until(() => worker.looks === 1);
  return worker;
}

/** Who knows the database's connections, and may send and hear what any of its users may. */
async function somebody(): Promise<{ client: pg.Client; texts: string[] }> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  cleanUps.push(() => client.end());
  const texts: string[] = [];
  client.on('notification', ({ payload = '' }) => texts.push(payload));
  await client.query('LISTEN forgehand');
  return { client, texts };
}

const said = (texts: readonly string[], what: string): number =>
  texts.filter((text) => text.includes(`"does":"${what}"`)).length;

const IDS = Array.from({ length: 200 }, (_, n) => `id-${n}`);

describeOnPostgres('queue/notifications', () => {
  it('wakes the worker of another process, each worker for its share', async () => {
    const other = await somebody();
    const web = await aProcess();
    const workers = [await aWorker(300), await aWorker(300)];
    // The newcomer tells that it listens, the one that was there answers, and so does the newcomer.
    await until(() => said(other.texts, 'listen') === 4);

    await web.queue.announce('arrival', IDS, 'acme');

    await until(() => workers.flatMap(({ heard }) => heard).length >= IDS.length);
    expect(workers.flatMap(({ heard }) => heard).sort()).toEqual([...IDS].sort());
    expect(workers.every(({ heard }) => heard.length > 30)).toBe(true);
  });

  it('lets a worker with room begin what another one has no room for, and keeps it there too', async () => {
    const other = await somebody();
    const ends: Array<() => void> = [];
    const busy = await aWorker(1, () => new Promise<void>((resolve) => ends.push(resolve)));
    cleanUps.push(() => ends.forEach((end) => end()));
    const idle = await aWorker(300);
    await until(() => said(other.texts, 'listen') === 4);

    await busy.queue.announce('arrival', ['first', ...IDS], 'acme');

    await until(() => idle.heard.length === IDS.length);
    expect([busy.heard, [...idle.heard].sort()]).toEqual([['first'], [...IDS].sort()]);
    ends[0]?.();
    await until(() => busy.heard.length === 2);
    expect(busy.heard[1]).toBe(IDS[0]);
  });

  it('passes on what a receiver told a worker without room', async () => {
    const other = await somebody();
    const web = await aProcess();
    const ends: Array<() => void> = [];
    const busy = await aWorker(1, () => new Promise<void>((resolve) => ends.push(resolve)));
    cleanUps.push(() => ends.forEach((end) => end()));
    const idle = await aWorker(300);
    await until(() => said(other.texts, 'listen') === 4);

    await web.queue.announce('arrival', IDS, 'acme');

    await until(() => idle.heard.length + busy.heard.length === IDS.length);
    expect([busy.heard.length, [...busy.heard, ...idle.heard].sort()]).toEqual([1, [...IDS].sort()]);
  });

  it('sends nothing while no other process listens', async () => {
    const other = await somebody();
    const worker = await aWorker(1);

    await worker.queue.announce('arrival', IDS, 'acme');
    await until(() => worker.heard.length === IDS.length);
    await worker.queue.close(1_000);
    await until(() => said(other.texts, 'leave') === 1);

    expect(said(other.texts, 'wake')).toBe(0);
  });

  it('hears again after its connection was ended, looks for what it missed, and tells each of both once', async () => {
    const { client } = await somebody();
    const web = await aProcess();
    const worker = await aWorker(4);

    const { rowCount } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query = 'LISTEN forgehand'`,
    );
    await until(() => worker.looks === 2);
    await web.queue.announce('arrival', ['after'], 'acme');
    await until(() => worker.heard.length === 1);

    expect([rowCount, worker.heard]).toEqual([1, ['after']]);
    expect(worker.logged).toEqual(['queue.wake-ups-flow', 'queue.listener-lost', 'queue.wake-ups-flow']);
  });

  it('ignores what is no message of ours, whoever sends it', async () => {
    const { client } = await somebody();
    const web = await aProcess();
    const worker = await aWorker(4);
    for (const text of ['', 'nonsense', '{"does":"wake"}', '['.repeat(7_000)])
      await client.query('SELECT pg_notify($1, $2)', ['forgehand', text]);

    await web.queue.announce('arrival', ['good'], 'acme');
    await until(() => worker.heard.length > 0);

    expect([worker.heard, worker.looks]).toEqual([['good'], 1]);
  });

  it('goes on when all its connections are ended at once', async () => {
    const worker = await aWorker(1);
    const { client } = await somebody();
    await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await worker.queue.announce('arrival', ['own'], 'acme');

    await until(() => worker.heard.length === 1);
    await until(() => worker.looks === 2);
    expect(await worker.queue.healthy()).toBe(true);
  });
});
