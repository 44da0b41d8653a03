import { Module, type DynamicModule } from '@nestjs/common';
import type { AppConfig } from '../config/app-config.js';
import { silentLogger, type Logger } from '../core/logger.js';
import { NO_RATE_LIMIT_BROADCAST, RATE_LIMIT_BROADCAST } from '../forge/http/rate-limit-broadcast.port.js';
import { InProcessQueue } from './in-process-queue.js';
import { WAKE_QUEUE } from '../pipeline/wake-queue.port.js';

@Module({})
export class QueueModule {}

/**
 * Gives WAKE_QUEUE and RATE_LIMIT_BROADCAST. Bull and Redis' client are loaded only where the config names Redis.
 * @throws UserError when Redis answers and does not let us in
 */
export async function queueModule(
  config: AppConfig['queue'],
  { logger = silentLogger }: { logger?: Logger } = {},
): Promise<DynamicModule> {
  if (config.kind === 'redis') {
    const [{ bullQueueModule }, { redisLetsIn }] = await Promise.all([
      import('./bull-queue.module.js'),
      import('./redis-lets-in.js'),
    ]);
    await redisLetsIn(config.url);
    return bullQueueModule(QueueModule, config.url, logger);
  }
  return {
    module: QueueModule,
    global: true,
    providers: [
      { provide: WAKE_QUEUE, useFactory: () => new InProcessQueue(logger) },
      { provide: RATE_LIMIT_BROADCAST, useValue: NO_RATE_LIMIT_BROADCAST },
    ],
    exports: [WAKE_QUEUE, RATE_LIMIT_BROADCAST],
  };
}
