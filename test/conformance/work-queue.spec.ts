import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { getQueueToken } from '@nestjs/bull';
import type { Queue } from 'bull';
import { Secret } from '../../src/core/secret.js';
import { Notifications } from '../../src/queue/notifications.port.js';
import { queueModule, queueProcessors } from '../../src/queue/queue.module.js';
import { WorkQueue } from '../../src/pipeline/work-queue.port.js';
import type { QueueConfig } from '../../src/config/app-config.js';
import { describeOnRedis, freshRedisUrl } from '../services/test-redis.js';
import { describeOnPostgres, openTestStores, type TestStores } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { workQueueSuite } from './work-queue.suite.js';

const IN_PROCESS: QueueConfig = { kind: 'embedded', sweepS: 3 };

/** @param notifications of the store, if there is one */
async function moduleOf(config: QueueConfig, notifications: Notifications | null = null): Promise<TestingModule> {
  const store = { provide: Notifications, useValue: notifications };
  const storeModule = { module: class {}, global: true, providers: [store], exports: [Notifications] };
  const providers = await queueProcessors(config);
  const module = await Test.createTestingModule({ imports: [storeModule, queueModule(config)], providers }).compile();
  return module.init();
}

async function throughNest(config: QueueConfig, notifications?: Notifications | null): Promise<WorkQueue> {
  return (await moduleOf(config, notifications)).get<WorkQueue>(WorkQueue);
}

/**
 * What is rung where nobody serves is heard by another process that serves.
 * The first rings may be lost: nobody listened yet.
 */
async function ringsElsewhere(make: () => Promise<WorkQueue>): Promise<void> {
  const [receiver, worker] = [await make(), await make()];
  await until(async () => (await receiver.healthy()) && (await worker.healthy()));
  const heard: string[] = [];
  await worker.serve('arrivals', 2, async (org) => heard.push(org) < 0);

  for (const org of ['acme', 'beta', '']) {
    await until(async () => {
      receiver.ring('arrivals', org);
      return heard.includes(org);
    });
  }

  await Promise.all([receiver.close(0), worker.close(0)]);
}

describe('conformance/work-queue: in process', () => workQueueSuite(() => throughNest(IN_PROCESS)));

describeOnPostgres('conformance/work-queue: postgres', () => {
  let opened: TestStores;
  beforeAll(async () => {
    opened = await openTestStores('postgres');
  });
  afterAll(() => opened.close());

  workQueueSuite(() => throughNest(IN_PROCESS, opened.stores.notifications), { keepsRings: false });

  it('rings from process to process', () => ringsElsewhere(() => throughNest(IN_PROCESS, opened.stores.notifications)));
});

describeOnRedis('conformance/work-queue: bull', () => {
  const onRedis = async (): Promise<QueueConfig> => ({
    kind: 'redis',
    url: new Secret(await freshRedisUrl()),
    sweepS: 3,
  });

  workQueueSuite(async () => throughNest(await onRedis()));

  it('rings from process to process', async () => {
    const config = await onRedis();
    await ringsElsewhere(() => throughNest(config));
  });

  it('lets another process help a line whose turn filled its batch, and looks for work behind a turn that left none', async () => {
    const config = await onRedis();
    const [one, other] = [await throughNest(config), await throughNest(config)];
    await until(async () => (await one.healthy()) && (await other.healthy()));
    const turns: string[] = [];
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const turnOf = (name: string) => async (_org: string, help: () => void) => {
      turns.push(name);
      // The process that asks may get the job itself, which is over at once then.
      await until(() => (help(), new Set(turns).size === 2));
      await ended;
      return false;
    };
    let looks = 0;
    const isDue = async (): Promise<boolean> => (looks += 1) === 1;
    await one.serve('arrivals', 4, turnOf('one'), isDue);
    await other.serve('arrivals', 4, turnOf('other'), isDue);

    one.ring('arrivals', 'acme');
    await until(() => new Set(turns).size === 2);
    end();

    // By the first look there was more, by the others nothing.
    await until(() => looks >= 2 && turns.length >= 3);
    await Promise.all([one.close(0), other.close(0)]);
  });

  it('holds one job for each line, however often it is rung, which names the organization and nothing else', async () => {
    const module = await moduleOf(await onRedis());
    const queue = module.get<WorkQueue>(WorkQueue);
    await until(() => queue.healthy());

    for (let n = 0; n < 20; n += 1) for (const org of ['acme', 'beta', 'wait']) queue.ring('intents', org);

    const waiting = () => module.get<Queue>(getQueueToken('intents')).getWaiting();
    await until(async () => (await waiting()).length >= 3);
    const jobs = (await waiting()).map(({ id, data }) => [id, data as unknown]).sort();
    await queue.close(1_000);
    expect(jobs).toEqual(['acme', 'beta', 'wait'].map((org) => [`line-${org}-1`, { org }]));
  });
});
