import { Module, type DynamicModule, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ActionsModule } from './actions/actions.module.js';
import { ApiModule } from './api/api.module.js';
import { ControlModule } from './api/control.module.js';
import { BotReadiness } from './api/readiness.js';
import { ConfigModule, type Given } from './config/config.module.js';
import type { Role } from './config/app-config.js';
import { ThisProcess } from './config/this-process.js';
import { Logger } from './core/logger.js';
import { TimersModule } from './housekeeping/timers.module.js';
import { InsightModule } from './insight/insight.module.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { WorkersModule } from './pipeline/workers.module.js';
import { PoliciesModule } from './policies/policies.module.js';
import { PollingModule } from './polling/polling.module.js';
import { queueModule, queueProcessors } from './queue/queue.module.js';
import { StoreModule } from './store/store.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The rooms that every role has. */
const ROOMS = [ActionsModule, PoliciesModule, InsightModule, PollingModule, ApiModule];

/** The modules that a role has. As the root it starts last and stops first: `docs/architecture.md`, "Start and stop". */
@Module({})
export class AppModule implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    private readonly readiness: BotReadiness,
    private readonly self: ThisProcess,
    private readonly logger: Logger,
  ) {}

  static async of(given: Given): Promise<DynamicModule> {
    const { role, serves } = given.process;
    await given.opened.keep(
      () => given.logger,
      (logger) => logger.info({ role }, 'forgehand.stopped'),
    );
    const is = (part: Role): boolean => serves === 'bot' && (role === part || role === 'all');
    const receiving = is('web') ? [WebhooksModule] : [];
    const imports = [
      ConfigModule.of(given),
      ObservabilityModule,
      ControlModule,
      StoreModule,
      await queueModule(given.config.queue, given),
      ScheduleModule.forRoot(),
      ...ROOMS,
      ...receiving,
      ...(is('worker') ? [WorkersModule.of(await queueProcessors(given.config.queue), receiving)] : []),
      ...(serves === 'bot' ? [TimersModule.of(role)] : []),
      // Its pages and their libraries are of no use to other roles.
      ...(is('console') ? [(await import('./console/console.module.js')).ConsoleModule] : []),
    ];
    return { module: AppModule, imports };
  }

  onApplicationBootstrap(): void {
    const { role, webhookUrl, places } = this.self;
    this.readiness.isUp = true;
    this.logger.info({ role, webhooks: webhookUrl, places }, 'forgehand.started');
  }

  onModuleDestroy(): void {
    this.readiness.isUp = false;
  }
}
