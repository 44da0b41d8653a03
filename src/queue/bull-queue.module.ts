import { BullModule, getQueueToken } from '@nestjs/bull';
import type { DynamicModule, Type } from '@nestjs/common';
import type { Queue } from 'bull';
import type { Logger } from '../core/logger.js';
import type { Opened } from '../core/opened.js';
import type { Secret } from '../core/secret.js';
import { RATE_LIMIT_BROADCAST } from '../forge/http/rate-limit-broadcast.port.js';
import { BullQueue } from './bull-queue.js';
import { closeQueue, STORE_FIRST } from './queue.module.js';
import { DRAIN_DELAY_S, redisOptions } from './redis-options.js';
import { RedisRateLimitBroadcast } from './redis-rate-limit-broadcast.js';
import { TOPICS, WAKE_QUEUE } from '../pipeline/wake-queue.port.js';

const SETTINGS = {
  drainDelay: DRAIN_DELAY_S,
  retryProcessDelay: 1_000,
  // A job whose worker died is found by the sweep long before; Bull's own look is for its books.
  stalledInterval: 30_000,
  maxStalledCount: 1,
};

/** Of each topic first what goes first, then what goes in turn. */
const QUEUES = TOPICS.flatMap((topic) => [`${topic}-first`, topic]);

/** Two Bull queues for each topic, and WAKE_QUEUE over them; and what processes tell each other of a forge. */
export function bullQueueModule(module: Type, url: Secret, logger: Logger, opened: Opened): DynamicModule {
  const make = (...queues: Queue[]): BullQueue => {
    const [...left] = queues;
    const next = (): Queue => left.shift() as Queue;
    const queue = new BullQueue(new Map(TOPICS.map((topic) => [topic, { first: next(), 'in turn': next() }])), logger);
    void queue.checkServer();
    return queue;
  };
  return {
    module,
    global: true,
    imports: [
      // The options belong to each queue, and not to all by `forRoot`: those the library treats as optional, and where they could not be made, since the
      // start failed meanwhile, it would connect to its default server, and hold the process for ever.
      BullModule.registerQueueAsync(
        ...QUEUES.map((name) => ({
          name,
          inject: [STORE_FIRST],
          useFactory: () =>
            opened.keep(
              () => ({ redis: redisOptions(url), prefix: 'forgehand', settings: SETTINGS }),
              () => undefined,
            ),
        })),
      ),
    ],
    providers: [
      {
        provide: WAKE_QUEUE,
        inject: QUEUES.map((name) => getQueueToken(name)),
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
        provide: RATE_LIMIT_BROADCAST,
        useFactory: () =>
          opened.keep(
            () => new RedisRateLimitBroadcast(url, logger),
            (broadcast) => broadcast.close(),
          ),
      },
    ],
    exports: [WAKE_QUEUE, RATE_LIMIT_BROADCAST],
  };
}
