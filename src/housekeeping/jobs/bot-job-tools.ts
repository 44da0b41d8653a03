import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import type { JsonObject } from '../../core/json.js';
import { KnownFacts } from '../../core/known-facts.port.js';
import type { Cause } from '../../core/run.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { ForgeInventory } from '../../forge/forge-inventory.js';
import { JournalStore } from '../../pipeline/journal-store.port.js';
import { TickStore } from '../../pipeline/tick-store.port.js';
import { Planner } from '../../policies/planner.js';
import type { ApplyReport, KeptPlan, PolicyPlan } from '../../policies/policy-plan.js';
import { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import { AccountSync } from '../account-sync.js';
import { ArchiveInbox } from '../archive-inbox.js';
import { AuditSealer } from '../audit/audit-sealer.js';
import type { DoctorReport } from '../doctor/check.js';
import { Doctor, type DoctorScope } from '../doctor/doctor.js';
import { EndedRecordStore } from '../ended-record-store.port.js';
import { HistoryPruner } from '../history-pruner.js';
import { StoreMaintenance } from '../store-maintenance.port.js';
import type { JobTools } from './job.js';

const BY = 'housekeeping';

/** What jobs use, from the rooms that have it. */
@Injectable()
export class BotJobTools implements JobTools {
  readonly tickDays: number;
  readonly historyDays: number;
  readonly actsDays: number | null;
  readonly repeatDays: number | null;
  readonly staleBranchDays: number;

  constructor(
    private readonly config: AppConfig,
    readonly clock: Clock,
    readonly alerts: Alerts,
    readonly knownFacts: KnownFacts,
    readonly forges: ConnectedForges,
    readonly inventory: ForgeInventory,
    readonly revisions: RevisionKeeper,
    readonly journal: JournalStore,
    readonly archive: ArchiveInbox,
    readonly ticks: TickStore,
    readonly ended: EndedRecordStore,
    readonly pruner: HistoryPruner,
    readonly sealer: AuditSealer,
    private readonly doctor: Doctor,
    private readonly store: StoreMaintenance,
    private readonly planner: Planner,
    private readonly sync: AccountSync,
  ) {
    this.tickDays = config.retention.tickDays;
    this.historyDays = config.retention.historyDays;
    this.actsDays = config.retention.actsDays;
    this.repeatDays = config.retention.repeatDays;
    this.staleBranchDays = config.housekeeping.staleBranchDays;
  }

  examine(scope: DoctorScope): Promise<DoctorReport> {
    return this.doctor.examine(scope, false);
  }

  maintenance(what: 'checkpoint' | 'vacuum'): Promise<void> {
    return this.store.maintenance(what);
  }

  plan(org: string): Promise<KeptPlan> {
    return this.planner.plan(org, null, BY);
  }

  planned(org: string): Promise<PolicyPlan> {
    return this.planner.planned(org, null, BY);
  }

  applyPlan(hash: string): Promise<ApplyReport> {
    return this.planner.apply(hash, BY);
  }

  async reloadRules(org: string): Promise<{ hash: string | null; problems: readonly string[] }> {
    await this.revisions.lookAgain(org);
    return {
      hash: (await this.revisions.active(org))?.revision.hash ?? null,
      problems: this.revisions.heldBack(org),
    };
  }

  wantAccount(forge: string, settings: JsonObject, cause: Cause, isDryRun: boolean): ReturnType<AccountSync['want']> {
    return this.sync.want(forge, settings, cause, isDryRun);
  }

  account(forge: string): Readonly<Record<string, string | boolean>> | null {
    return this.config.forges.find(({ id }) => id === forge)?.account ?? null;
  }
}
