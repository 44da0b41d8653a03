import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import type { AppConfig } from '../config/app-config.js';
import { silentLogger, type Logger } from '../core/logger.js';
import { Opened } from '../platform/opened.js';
import { STOP_GRACE } from '../platform/stop-grace.js';
import { NO_RATE_LIMIT_BROADCAST, RateLimitBroadcast } from '../forge/http/rate-limit-broadcast.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { Lines } from './lines.js';
import { Notifications } from './notifications.port.js';
import { NotifyBell } from './notify-bell.js';

/** Needed by a queue that it be opened after the store, where there is one, and so closed before: what is in hand may still be stored. */
export const STORE_FIRST = { token: InboxStore, optional: true };
/** Missing where there is no store, null where the store belongs to one process. */
const NOTIFICATIONS_IF_ANY = { token: Notifications, optional: true };
/** How a queue ends. */
export const closeQueue = (queue: WorkQueue): Promise<void> => queue.close(STOP_GRACE.othersMs);

@Module({})
export class QueueModule {}

/**
 * Gives WorkQueue and RateLimitBroadcast. Bull and Redis' client are loaded only where the config names Redis.
 * @throws UserError when Redis answers and does not let us in
 */
export async function queueModule(
  config: AppConfig['queue'],
  { logger = silentLogger, opened = new Opened(logger) }: { logger?: Logger; opened?: Opened } = {},
): Promise<DynamicModule> {
  if (config.kind === 'redis') {
    const { redisLetsIn } = await import('./redis-options.js');
    await redisLetsIn(config.url);
    const { bullQueueModule } = await import('./bull-queue.module.js');
    return bullQueueModule(QueueModule, config.url, logger, opened);
  }
  return {
    module: QueueModule,
    global: true,
    providers: [
      {
        provide: WorkQueue,
        inject: [NOTIFICATIONS_IF_ANY, STORE_FIRST],
        useFactory: (notifications?: Notifications | null) =>
          opened.keep(
            () => new Lines(logger, notifications ? new NotifyBell(notifications, logger) : null),
            closeQueue,
          ),
      },
      { provide: RateLimitBroadcast, useValue: NO_RATE_LIMIT_BROADCAST },
    ],
    exports: [WorkQueue, RateLimitBroadcast],
  };
}

/** What a process that works needs besides, to take rings. */
export async function queueProcessors(config: AppConfig['queue']): Promise<Provider[]> {
  return config.kind === 'redis' ? (await import('./bull-processors.js')).PROCESSORS : [];
}
