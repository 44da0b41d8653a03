import { Module, type DynamicModule } from '@nestjs/common';
import type { AppConfig } from '../config/app-config.js';
import { silentLogger, type Logger } from '../core/logger.js';
import { NO_SHARED_PAUSES, SHARED_PAUSES } from '../forge/http/shared-pauses.port.js';
import { InProcessQueue } from './in-process-queue.js';
import { WAKE_QUEUE } from '../pipeline/wake-queue.port.js';

@Module({})
export class QueueModule {}

/**
 * Gives WAKE_QUEUE and SHARED_PAUSES. Bull and Redis' client are loaded only where the config names Redis.
 * @throws UserError when Redis answers and does not let us in
 */
export async function queueModule(config: AppConfig['queue'], { logger = silentLogger }: { logger?: Logger } = {}): Promise<DynamicModule> {
  if (config.kind === 'redis') {
    const [{ bullQueueModule }, { redisLetsIn }] = await Promise.all([import('./bull-queue.module.js'), import('./redis-lets-in.js')]);
    await redisLetsIn(config.url);
    return bullQueueModule(QueueModule, config.url, logger);
  }
  return {
    module: QueueModule,
    global: true,
    providers: [
      { provide: WAKE_QUEUE, useFactory: () => new InProcessQueue(logger) },
      { provide: SHARED_PAUSES, useValue: NO_SHARED_PAUSES },
    ],
    exports: [WAKE_QUEUE, SHARED_PAUSES],
  };
}
