import { Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Logger } from '../core/logger.js';
import { GapKeeper } from '../polling/gaps/gap-keeper.js';
import { UndecidedBytes } from '../webhooks/byte-budgets.js';
import { ArchiveInbox } from './archive-inbox.js';
import { IntervalJobs } from './interval-jobs.cron.js';
import { OpenAlerts } from './open-alerts.js';
import { ConfigReload } from './reload/config-reload.js';

const SOON_MS = 5_000;

/** In every process. One that only receives may not read what others resolved, and none of them resolves what it raises. */
@Injectable()
export class CommonJobs extends IntervalJobs {
  constructor(
    registry: SchedulerRegistry,
    { role }: ThisProcess,
    { store }: AppConfig,
    alerts: OpenAlerts,
    reload: ConfigReload,
    logger: Logger,
  ) {
    const publish = { name: 'alerts', everyMs: SOON_MS, wake: () => alerts.publish() };
    const settle = { name: 'resolved-alerts', everyMs: SOON_MS, wake: () => alerts.settle() };
    const follow = { name: 'config-reload', everyMs: SOON_MS, wake: () => reload.follow() };
    // An embedded store belongs to one process.
    const shared = store.kind === 'embedded' ? [] : [follow];
    super(registry, [publish, ...(role === 'web' ? [] : [settle]), ...shared], logger);
  }
}

/** In processes that schedule. */
@Injectable()
export class SchedulingJobs extends IntervalJobs {
  constructor(registry: SchedulerRegistry, gaps: GapKeeper, archive: ArchiveInbox, alerts: OpenAlerts, logger: Logger) {
    super(
      registry,
      [
        { name: 'gaps', everyMs: SOON_MS, wake: () => gaps.pass() },
        // Small batches during the day, not everything at night.
        { name: 'archive', everyMs: 10 * 60_000, wake: () => archive.run() },
        { name: 'old-alerts', everyMs: 3_600_000, wake: () => alerts.forgetOld() },
      ],
      logger,
    );
  }
}

/** In processes that receive: records that deliveries can arrive. */
@Injectable()
export class ReceivingJobs extends IntervalJobs {
  constructor(registry: SchedulerRegistry, gaps: GapKeeper, undecided: UndecidedBytes, logger: Logger) {
    super(
      registry,
      [
        { name: 'heartbeat', everyMs: SOON_MS, wake: () => gaps.beat() },
        { name: 'undecided', everyMs: 2_000, wake: () => undecided.count() },
      ],
      logger,
    );
  }
}
