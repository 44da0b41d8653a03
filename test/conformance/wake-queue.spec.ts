import { describe } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { Secret } from '../../src/core/secret.js';
import { queueModule } from '../../src/queue/queue.module.js';
import { WAKE_QUEUE, type WakeQueue } from '../../src/pipeline/wake-queue.port.js';
import type { QueueConfig } from '../../src/config/app-config.js';
import { describeOnRedis, freshRedisUrl } from '../services/test-redis.js';
import { wakeQueueSuite } from './wake-queue.suite.js';

async function throughNest(config: QueueConfig): Promise<WakeQueue> {
  const module: TestingModule = await Test.createTestingModule({ imports: [queueModule(config)] }).compile();
  return module.get<WakeQueue>(WAKE_QUEUE);
}

describe('conformance/wake-queue: in process', () =>
  wakeQueueSuite(() => throughNest({ kind: 'embedded', sweepS: 3 })));

describeOnRedis('conformance/wake-queue: bull', () =>
  wakeQueueSuite(async () => throughNest({ kind: 'redis', url: new Secret(await freshRedisUrl()), sweepS: 3 })),
);
