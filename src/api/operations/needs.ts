import type { AppConfig, Role } from '../../config/app-config.js';
import type { Alerts } from '../../core/alerts.js';
import type { Clock } from '../../core/clock.js';
import type { Encryptor } from '../../core/encryptor.js';
import type { JsonObject } from '../../core/json.js';
import type { OperatorStore } from '../../core/operator-store.port.js';
import type { TwoPeople } from '../../core/two-people.js';
import type { ConnectedForges } from '../../forge/connected-forges.js';
import type { ArchiveInbox } from '../../housekeeping/archive-inbox.js';
import type { AuditStore } from '../../housekeeping/audit/audit-store.port.js';
import type { Doctor } from '../../housekeeping/doctor/doctor.js';
import type { JobRunner } from '../../housekeeping/jobs/job-runner.js';
import type { OpenAlerts } from '../../housekeeping/open-alerts.js';
import type { Scheduler } from '../../housekeeping/scheduler.js';
import type { BotSelfOf } from '../../insight/bot-self.js';
import type { ActivityStore } from '../../insight/activity-store.port.js';
import type { Activity } from '../../insight/activity.js';
import type { CoverageCounter } from '../../insight/coverage.js';
import type { RuleCounter } from '../../insight/rule-counts.js';
import type { Explainer } from '../../insight/explainer.js';
import type { RuleBehind } from '../../insight/rule-behind.js';
import type { Backtests } from '../../insight/trying/backtests.js';
import type { Drafts } from '../../insight/trying/drafts.js';
import type { HistoryStore } from '../../insight/history-store.port.js';
import type { ArrivalToIntents } from '../../pipeline/decide.js';
import type { Rollout } from '../../pipeline/decide/rollout.js';
import type { GapStore } from '../../pipeline/gap-store.port.js';
import type { InboxStore } from '../../pipeline/inbox-store.port.js';
import type { JournalStore } from '../../pipeline/journal-store.port.js';
import type { PoisonMessageStore } from '../../pipeline/poison-message-store.port.js';
import type { RecoveryStore } from '../../pipeline/recovery-store.port.js';
import type { RolloutStore } from '../../pipeline/rollout-store.port.js';
import type { FindingStore } from '../../policies/finding-store.port.js';
import type { PersonErasure } from '../../housekeeping/erase/person-erasure.js';
import type { PlanStore } from '../../policies/plan-store.port.js';
import type { Planner } from '../../policies/planner.js';
import type { CursorStore } from '../../polling/cursor-store.port.js';
import type { CapabilityCheck } from '../../rules/requirements/capability-check.js';
import type { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import type { RevisionStore } from '../../rules/revisions/revision-store.port.js';
import type { RuleVerdicts } from '../../rules/sources/rule-verdicts.js';
import type { SessionStore } from '../session-store.port.js';
import type { ActStore } from '../act-store.port.js';
import type { StoreCopier } from '../store-files.port.js';
import type { RecentDeliveries } from './recent-deliveries.js';
import type { Ids, Orders, Orgs } from './shared.js';

/** What handlers may ask for, by name. Types alone: the command line reads the table of operations and loads nothing of this. */
export interface Needs {
  readonly acts: Pick<ActStore, 'list'>;
  readonly activity: Activity;
  readonly alerts: Alerts;
  readonly archive: ArchiveInbox;
  readonly arrivals: Pick<ActivityStore, 'arrivals'>;
  readonly audit: AuditStore;
  readonly backtests: Backtests;
  readonly clock: Clock;
  readonly config: AppConfig;
  readonly copier: StoreCopier;
  readonly coverage: CoverageCounter;
  readonly cursors: CursorStore;
  readonly doctor: Doctor;
  /** The OpenAPI document of the table of operations. */
  readonly document: () => JsonObject;
  readonly drafts: Drafts;
  readonly encryptor: Encryptor;
  readonly erasure: PersonErasure;
  readonly explainer: Explainer;
  readonly findings: FindingStore;
  readonly flow: ArrivalToIntents;
  readonly forges: ConnectedForges;
  readonly gaps: GapStore;
  readonly history: HistoryStore;
  readonly ids: Ids;
  readonly inbox: InboxStore;
  readonly journal: JournalStore;
  readonly keeper: RevisionKeeper;
  readonly offers: CapabilityCheck;
  readonly openAlerts: OpenAlerts;
  readonly operators: OperatorStore;
  readonly orders: Orders;
  readonly orgs: Orgs;
  readonly planner: Planner;
  readonly plans: PlanStore;
  readonly poisonMessages: PoisonMessageStore;
  readonly recentDeliveries: RecentDeliveries;
  readonly recovery: RecoveryStore;
  readonly revisions: RevisionStore;
  readonly rollout: Rollout;
  readonly rollouts: RolloutStore;
  readonly runner: JobRunner;
  /** Null when this process only serves one command. */
  readonly running: {
    startedAt: Date;
    role: Role;
    queueHealthy: () => Promise<boolean>;
    /** Where browsers reach the Console; null = no process of this bot serves it, as far as this one knows. */
    consoleUrl: () => string | null;
  } | null;
  readonly scheduler: Scheduler;
  /** Who the bot is on a forge; null while no forge told it. */
  readonly self: BotSelfOf;
  /** Of the Console. */
  readonly sessions: SessionStore;
  readonly ruleBehind: RuleBehind;
  readonly ruleCounter: RuleCounter;
  readonly twoPeople: TwoPeople;
  readonly verdicts: RuleVerdicts;
}
