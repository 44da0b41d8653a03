import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ActionsModule } from './actions/actions.module.js';
import { ApiModule, type Serves } from './api/api.module.js';
import type { Readiness } from './api/health.controller.js';
import { ConfigModule, type Given } from './config/config.module.js';
import { TimersModule } from './housekeeping/timers.module.js';
import { InsightModule } from './insight/insight.module.js';
import { ObservabilityModule, type Observers } from './observability/observability.module.js';
import { PoliciesModule } from './policies/policies.module.js';
import { PollingModule } from './polling/polling.module.js';
import { queueModule } from './queue/queue.module.js';
import type { Stores } from './store/open-stores.js';
import { StoreModule } from './store/store.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

export interface AppParts extends Given, Observers {
  readonly stores: Stores;
  readonly serves: Serves;
  readonly readiness: Readiness;
}

/** The modules that a role has. Nothing starts by being made; `main.ts` starts and stops. */
@Module({})
export class AppModule {
  static async of({ stores, serves, readiness, ...given }: AppParts): Promise<DynamicModule> {
    const { role } = given.process;
    const isReceiver = role === 'web' || role === 'all';
    return {
      module: AppModule,
      imports: [
        ScheduleModule.forRoot(),
        ConfigModule.of(given),
        ObservabilityModule.of(given),
        StoreModule.of(stores),
        await queueModule(given.config.queue, { logger: given.logger }),
        ActionsModule,
        PoliciesModule,
        InsightModule,
        PollingModule,
        ...(isReceiver ? [WebhooksModule] : []),
        ...(serves === 'bot' ? [TimersModule.of(role)] : []),
        ApiModule.of(serves, readiness),
      ],
    };
  }
}
