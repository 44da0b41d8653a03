import { Module } from '@nestjs/common';
import { Draining } from '../platform/draining.js';
import { ForgeModule } from '../forge/forge.module.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { PollingModule } from '../polling/polling.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { AccountSync } from './account-sync.js';
import { ArchiveInbox } from './archive-inbox.js';
import { AuditSealer } from './audit/audit-sealer.js';
import { HistoryPruner } from './history-pruner.js';
import { Doctor } from './doctor/doctor.js';
import { BotJobTools } from './jobs/bot-job-tools.js';
import { jobs } from './jobs/index.js';
import { JobRunner } from './jobs/job-runner.js';
import { Jobs } from './jobs/job.js';
import { OpenAlerts } from './open-alerts.js';
import { ConfigReload } from './reload/config-reload.js';
import { Scheduler } from './scheduler.js';

/** Work by the clock: schedules of rules and policies, jobs, retention, the doctor. */
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule, PollingModule],
  providers: [
    ArchiveInbox,
    AuditSealer,
    HistoryPruner,
    Doctor,
    AccountSync,
    BotJobTools,
    { provide: Jobs, useValue: jobs },
    JobRunner,
    Scheduler,
    OpenAlerts,
    ConfigReload,
  ],
  exports: [ArchiveInbox, ConfigReload, Doctor, JobRunner, OpenAlerts, Scheduler],
})
export class HousekeepingModule extends Draining {
  constructor(
    private readonly alerts: OpenAlerts,
    private readonly archive: ArchiveInbox,
    private readonly sealer: AuditSealer,
    private readonly pruner: HistoryPruner,
    private readonly scheduler: Scheduler,
    private readonly runner: JobRunner,
    private readonly reload: ConfigReload,
  ) {
    super();
  }

  protected drain(): Promise<unknown> {
    this.pruner.stop();
    const worked = this.scheduler.stop().then(() => this.runner.idle());
    return Promise.all([this.alerts.withdraw(), this.archive.stop(), this.sealer.stop(), this.reload.stop(), worked]);
  }
}
