import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { getQueueToken } from '@nestjs/bull';
import type { Queue } from 'bull';
import { Secret } from '../../src/core/secret.js';
import { NOTIFICATIONS, type Notifications } from '../../src/queue/notifications.port.js';
import { NotifyingQueue } from '../../src/queue/notifying-queue.js';
import { queueModule } from '../../src/queue/queue.module.js';
import { WAKE_QUEUE, type WakeQueue } from '../../src/pipeline/wake-queue.port.js';
import type { QueueConfig } from '../../src/config/app-config.js';
import { describeOnRedis, freshRedisUrl } from '../services/test-redis.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { wakeQueueSuite } from './wake-queue.suite.js';

const IN_PROCESS: QueueConfig = { kind: 'embedded', sweepS: 3 };

/** @param notifications of the store, if there is one */
function moduleOf(config: QueueConfig, notifications: Notifications | null = null): Promise<TestingModule> {
  const store = { provide: NOTIFICATIONS, useValue: notifications };
  const storeModule = { module: class {}, global: true, providers: [store], exports: [NOTIFICATIONS] };
  return Test.createTestingModule({ imports: [storeModule, queueModule(config)] }).compile();
}

async function throughNest(config: QueueConfig, notifications?: Notifications | null): Promise<WakeQueue> {
  return (await moduleOf(config, notifications)).get<WakeQueue>(WAKE_QUEUE);
}

describe('conformance/wake-queue: in process', () => wakeQueueSuite(() => throughNest(IN_PROCESS)));

describeOnPostgres('conformance/wake-queue: postgres', () => {
  let opened: TestStores;
  beforeAll(async () => {
    opened = await openTestStores('postgres');
  });
  afterAll(() => opened.close());

  wakeQueueSuite(() => throughNest(IN_PROCESS, opened.stores.notifications));

  it('is another queue than in a process of its own', async () => {
    const queue = await throughNest(IN_PROCESS, opened.stores.notifications);
    await queue.close(1_000);

    expect(queue).toBeInstanceOf(NotifyingQueue);
  });
});

describeOnRedis('conformance/wake-queue: bull', () => {
  const onRedis = async (): Promise<QueueConfig> => ({
    kind: 'redis',
    url: new Secret(await freshRedisUrl()),
    sweepS: 3,
  });

  wakeQueueSuite(async () => throughNest(await onRedis()));

  it('puts what many announce in one breath into few jobs, those of each organization apart', async () => {
    const module = await moduleOf(await onRedis());
    const queue = module.get<WakeQueue>(WAKE_QUEUE);
    await until(() => queue.healthy());
    const jobsOf = (name: string) =>
      module.get<Queue<{ ids: string[]; org?: string }>>(getQueueToken(name)).getWaiting();

    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) => queue.announce('intent', [`of-nobody-${n}`])),
      ...['a', 'b', 'b'].map((id) => queue.announce('intent', [id], 'acme')),
    ]);

    const waitingIn = async (name: string): Promise<string[]> =>
      (await jobsOf(name)).map(({ data }) => `${data.org ?? 'nobody'}: ${data.ids.length}`).sort();
    const waiting = [await waitingIn('intent-first'), await waitingIn('intent')];
    await queue.close(1_000);
    expect(waiting).toEqual([['acme: 2'], ['nobody: 16', 'nobody: 4']]);
  });

  it('takes what is of another organization while the jobs of a flood wait in hand', async () => {
    const config = await onRedis();
    const [receiver, worker] = await Promise.all([throughNest(config), throughNest(config)]);
    await until(async () => (await receiver.healthy()) && (await worker.healthy()));
    const begun: string[] = [];
    await worker.consume('event', 3, (id) => {
      begun.push(id);
      return new Promise<void>(() => undefined);
    });
    await receiver.announce(
      'event',
      Array.from({ length: 200 }, (_, n) => `flood-${n}`),
      'acme',
    );
    await until(() => begun.length === 2);

    // Nothing of the flood ends.
    await receiver.announce('event', ['quiet'], 'beta');
    await until(() => begun.length === 3);

    expect(begun[2]).toBe('quiet');
    await Promise.all([receiver.close(0), worker.close(0)]);
  });
});
