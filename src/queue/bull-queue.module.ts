import { BullModule, getQueueToken } from '@nestjs/bull';
import type { DynamicModule, Type } from '@nestjs/common';
import type { Queue, QueueOptions } from 'bull';
import type { Logger } from '../core/logger.js';
import type { Opened } from '../platform/opened.js';
import type { Secret } from '../core/secret.js';
import { RateLimitBroadcast } from '../forge/http/rate-limit-broadcast.port.js';
import { BullBell } from './bull-bell.js';
import { BullClients } from './bull-clients.js';
import { Lines } from './lines.js';
import { closeQueue, STORE_FIRST } from './queue.module.js';
import { QUEUE_SETTINGS } from './redis-options.js';
import { RedisRateLimitBroadcast } from './redis-rate-limit-broadcast.js';
import { TOPICS, WorkQueue } from '../pipeline/work-queue.port.js';

/** A Bull queue for each topic, and WorkQueue over them; and what processes tell each other of a forge. */
export function bullQueueModule(module: Type, url: Secret, logger: Logger, opened: Opened): DynamicModule {
  const clients = new BullClients(url);
  const createClient: QueueOptions['createClient'] = (type) => clients.make(type);
  const options = (): QueueOptions => ({ createClient, prefix: 'forgehand', settings: QUEUE_SETTINGS });
  const make = (...queues: Queue[]): WorkQueue => {
    const bell = new BullBell(new Map(TOPICS.map((topic, n) => [topic, queues[n] as Queue])), clients, logger);
    void bell.checkServer();
    return new Lines(logger, bell);
  };
  return {
    module,
    global: true,
    imports: [
      // The options belong to each queue, and not to all by `forRoot`: those the library treats as optional, and where they could not be made, since the
      // start failed meanwhile, it would connect to its default server, and hold the process for ever.
      BullModule.registerQueueAsync(
        ...TOPICS.map((name) => ({
          name,
          inject: [STORE_FIRST],
          useFactory: () => opened.keep(options, () => undefined),
        })),
      ),
    ],
    providers: [
      {
        provide: WorkQueue,
        inject: TOPICS.map((name) => getQueueToken(name)),
        useFactory: (...queues: Queue[]) =>
          opened
            .keep(() => make(...queues), closeQueue)
            .catch(async (error: unknown) => {
              // Queues connect when they are made: these were made before the start failed, and nobody else would end them.
              await closeQueue(make(...queues));
              throw error;
            }),
      },
      {
        provide: RateLimitBroadcast,
        useFactory: () =>
          opened.keep(
            () => new RedisRateLimitBroadcast(url, logger),
            (broadcast) => broadcast.close(),
          ),
      },
    ],
    exports: [WorkQueue, RateLimitBroadcast, BullModule],
  };
}
