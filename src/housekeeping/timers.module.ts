import { Module, type DynamicModule } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Role } from '../config/app-config.js';
import { Logger } from '../core/logger.js';
import { part, type PartProvider } from '../core/part.js';
import { GapKeeper } from '../polling/gaps/gap-keeper.js';
import { PollTimer } from '../polling/poll-timer.cron.js';
import { PollingModule } from '../polling/polling.module.js';
import { UndecidedBytes } from '../webhooks/byte-budgets.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { ArchiveInbox } from './archive-inbox.js';
import { HousekeepingModule } from './housekeeping.module.js';
import { ScheduleTimer } from './schedule-timer.cron.js';
import { StoreMaintenanceTimer } from './store-maintenance.cron.js';
import { IntervalJobs } from './interval-jobs.cron.js';
import { OpenAlerts } from './open-alerts.js';

/** A process that only receives may not read what others resolved, and none of them resolves what it raises. */
function everywhere(role: Role): PartProvider {
  return part(
    IntervalJobs.Everywhere,
    { registry: SchedulerRegistry, alerts: OpenAlerts, logger: Logger },
    ({ registry, alerts, logger }) =>
      new IntervalJobs(
        registry,
        [
          { name: 'alerts', everyMs: 5_000, wake: () => alerts.publish() },
          ...(role === 'web' ? [] : [{ name: 'resolved-alerts', everyMs: 5_000, wake: () => alerts.settle() }]),
        ],
        logger,
      ),
  );
}

/** In processes that schedule. */
const SCHEDULING = [
  ScheduleTimer,
  PollTimer,
  StoreMaintenanceTimer,
  part(
    IntervalJobs.Scheduling,
    { registry: SchedulerRegistry, gaps: GapKeeper, archive: ArchiveInbox, alerts: OpenAlerts, logger: Logger },
    ({ registry, gaps, archive, alerts, logger }) =>
      new IntervalJobs(
        registry,
        [
          { name: 'gaps', everyMs: 5_000, wake: () => gaps.pass() },
          // Small batches during the day, not everything at night.
          { name: 'archive', everyMs: 10 * 60_000, wake: () => archive.run() },
          { name: 'old-alerts', everyMs: 3_600_000, wake: () => alerts.forgetOld() },
        ],
        logger,
      ),
  ),
];

/** In processes that receive: records that deliveries can arrive. */
const RECEIVING = [
  part(
    IntervalJobs.Receiving,
    { registry: SchedulerRegistry, gaps: GapKeeper, undecided: UndecidedBytes, logger: Logger },
    ({ registry, gaps, undecided, logger }) =>
      new IntervalJobs(
        registry,
        [
          { name: 'heartbeat', everyMs: 5_000, wake: () => gaps.beat() },
          { name: 'undecided', everyMs: 2_000, wake: () => undecided.count() },
        ],
        logger,
      ),
  ),
];

/** The framework's timers of a role. They begin when the application is up, and decide nothing. */
@Module({})
export class TimersModule {
  static of(role: Role): DynamicModule {
    const isReceiver = role === 'web' || role === 'all';
    const isScheduler = role === 'scheduler' || role === 'all';
    return {
      module: TimersModule,
      imports: [PollingModule, HousekeepingModule, ...(isReceiver ? [WebhooksModule] : [])],
      providers: [everywhere(role), ...(isScheduler ? SCHEDULING : []), ...(isReceiver ? RECEIVING : [])],
    };
  }
}
