import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Logger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { NotifyingQueue } from '../../../src/queue/notifying-queue.js';
import { openStores } from '../../../src/store/open-stores.js';
import { canStartOwnPgBouncer, startOwnPgBouncer } from '../../services/own-server.mjs';
import { createTestDatabase, POSTGRES_URL, type TestDatabase } from '../../services/test-stores.js';
import { until } from '../../services/until.js';

let database: TestDatabase;
const cleanUps: Array<() => unknown> = [];

/** The address of the database through a pooler of its own. */
async function through(mode: 'session' | 'transaction'): Promise<string> {
  const pooler = await startOwnPgBouncer(database.url, mode);
  cleanUps.push(() => pooler.stop());
  return pooler.url;
}

async function aQueue(url: string): Promise<{ queue: NotifyingQueue; logged: string[]; heard: string[] }> {
  const logged: string[] = [];
  const log = (_facts: object, message: string): void => void logged.push(message);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const stores = await openStores({ kind: 'postgres', url: new Secret(url) });
  if (!stores.notifications) throw new Error('a server has notifications');
  // What does not come back never does: the time only makes the spec shorter.
  const queue = new NotifyingQueue(stores.notifications, logger, { proofMs: 1_000, proofEveryMs: 200 });
  const heard: string[] = [];
  await queue.consume('intent', 2, async (id) => void heard.push(id));
  cleanUps.push(async () => {
    await queue.close(1_000);
    await stores.close();
  });
  return { queue, logged, heard };
}

(POSTGRES_URL && canStartOwnPgBouncer ? describe : describe.skip)('queue/pooler', () => {
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
    await database.drop();
  });

  it('in session mode carries wake-ups from process to process', async () => {
    const url = await through('session');
    const [one, other] = [await aQueue(url), await aQueue(url)];
    await until(() => [one, other].every(({ logged }) => logged.includes('queue.wake-ups-flow')));

    await until(async () => {
      // Until they know each other, who hears an id may be either.
      await one.queue.announce('event', ['a'], 'acme');
      await one.queue.announce('intent', ['a', 'b', 'c'], 'acme');
      return other.heard.length > 0;
    });

    expect([one.logged, other.logged]).toEqual([['queue.wake-ups-flow'], ['queue.wake-ups-flow']]);
  });

  it('in transaction mode drops LISTEN without a word, which a process finds out, tells once, and goes on by itself', async () => {
    const one = await aQueue(await through('transaction'));

    await until(() => one.logged.includes('queue.wake-ups-dropped'));
    await one.queue.announce('intent', ['a'], 'acme');
    await until(() => one.heard.length === 1);

    expect(one.logged).toEqual(['queue.wake-ups-dropped']);
    expect([one.heard, await one.queue.healthy()]).toEqual([['a'], true]);
  });
});
