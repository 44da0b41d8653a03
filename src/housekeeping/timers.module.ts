import { Module, type DynamicModule } from '@nestjs/common';
import type { Role } from '../config/app-config.js';
import { PollTimer } from '../polling/poll-timer.cron.js';
import { PollingModule } from '../polling/polling.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { HousekeepingModule } from './housekeeping.module.js';
import { CommonJobs, ReceivingJobs, SchedulingJobs } from './role-jobs.cron.js';
import { ScheduleTimer } from './schedule-timer.cron.js';
import { StoreMaintenanceTimer } from './store-maintenance.cron.js';

/** The framework's timers of a role. They begin when the application is up, and decide nothing. */
@Module({})
export class TimersModule {
  static of(role: Role): DynamicModule {
    const isReceiver = role === 'web' || role === 'all';
    const isScheduler = role === 'scheduler' || role === 'all';
    return {
      module: TimersModule,
      imports: [PollingModule, HousekeepingModule, ...(isReceiver ? [WebhooksModule] : [])],
      providers: [
        CommonJobs,
        ...(isScheduler ? [ScheduleTimer, PollTimer, StoreMaintenanceTimer, SchedulingJobs] : []),
        ...(isReceiver ? [ReceivingJobs] : []),
      ],
    };
  }
}
