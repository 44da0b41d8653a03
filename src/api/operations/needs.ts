import type { Role } from '../../config/app-config.js';
import type { JsonObject } from '../../core/json.js';
import { AppConfig } from '../../config/app-config.js';
import { Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import { Encryptor } from '../../core/encryptor.js';
import { OperatorStore } from '../../core/operator-store.port.js';
import { TwoPeople } from '../../core/two-people.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { OrgNumbers } from '../../forge/org-numbers.js';
import { ArchiveInbox } from '../../housekeeping/archive-inbox.js';
import { AuditStore } from '../../housekeeping/audit/audit-store.port.js';
import { Doctor } from '../../housekeeping/doctor/doctor.js';
import { JobRunner } from '../../housekeeping/jobs/job-runner.js';
import { OpenAlerts } from '../../housekeeping/open-alerts.js';
import { ConfigReload } from '../../housekeeping/reload/config-reload.js';
import { Scheduler } from '../../housekeeping/scheduler.js';
import { BotSelves } from '../../insight/bot-self.js';
import { ActivityStore } from '../../insight/activity-store.port.js';
import { Activity } from '../../insight/activity.js';
import { CoverageCounter } from '../../insight/coverage.js';
import { RuleCounter } from '../../insight/rule-counts.js';
import { Explainer } from '../../insight/explainer.js';
import { RulesBehind } from '../../insight/rules-behind.js';
import { HistoryStore } from '../../insight/history-store.port.js';
import { Backtests } from '../../insight/trying/backtests.js';
import { Drafts } from '../../insight/trying/drafts.js';
import { ObjectTrials } from '../../insight/trying/object-trials.js';
import { ArrivalToIntents } from '../../pipeline/decide.js';
import { DueDecider } from '../../pipeline/decide/decide-due.js';
import { Rollout } from '../../pipeline/decide/rollout.js';
import { GapStore } from '../../pipeline/gap-store.port.js';
import { InboxStore } from '../../pipeline/inbox-store.port.js';
import { JournalStore } from '../../pipeline/journal-store.port.js';
import { WaitingStore } from '../../pipeline/waiting-store.port.js';
import { PoisonMessageStore } from '../../pipeline/poison-message-store.port.js';
import { RecoveryStore } from '../../pipeline/recovery-store.port.js';
import { RolloutStore } from '../../pipeline/rollout-store.port.js';
import { FindingStore } from '../../policies/finding-store.port.js';
import { PlanStore } from '../../policies/plan-store.port.js';
import { Planner } from '../../policies/planner.js';
import { CursorStore } from '../../polling/cursor-store.port.js';
import { CapabilityCheck } from '../../rules/requirements/capability-check.js';
import { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import { RevisionStore } from '../../rules/revisions/revision-store.port.js';
import { RuleVerdicts } from '../../rules/sources/rule-verdicts.js';
import { ActStore } from '../act-store.port.js';
import { LongCalls } from '../long-calls.js';
import { RecentDeliveries } from './recent-deliveries.js';
import { Orders } from './orders.js';
import { Ids, Orgs } from './shared.js';
import { PersonErasure } from '../../housekeeping/erase/person-erasure.js';
import { SessionStore } from '../session-store.port.js';
import { StoreCopier } from '../store-files.port.js';

/** What handlers may ask for, by name. They import the type alone, for the command line reads the table of operations and loads nothing of this. */
export const NEEDS = {
  acts: ActStore,
  activity: Activity,
  alerts: Alerts,
  archive: ArchiveInbox,
  arrivals: ActivityStore,
  audit: AuditStore,
  backtests: Backtests,
  clock: Clock,
  config: AppConfig,
  copier: StoreCopier,
  coverage: CoverageCounter,
  cursors: CursorStore,
  doctor: Doctor,
  drafts: Drafts,
  due: DueDecider,
  encryptor: Encryptor,
  erasure: PersonErasure,
  explainer: Explainer,
  findings: FindingStore,
  flow: ArrivalToIntents,
  forges: ConnectedForges,
  gaps: GapStore,
  history: HistoryStore,
  ids: Ids,
  inbox: InboxStore,
  journal: JournalStore,
  keeper: RevisionKeeper,
  longCalls: LongCalls,
  numbers: OrgNumbers,
  objectTrials: ObjectTrials,
  offers: CapabilityCheck,
  openAlerts: OpenAlerts,
  operators: OperatorStore,
  orders: Orders,
  orgs: Orgs,
  planner: Planner,
  plans: PlanStore,
  poisonMessages: PoisonMessageStore,
  waiting: WaitingStore,
  recentDeliveries: RecentDeliveries,
  recovery: RecoveryStore,
  reload: ConfigReload,
  revisions: RevisionStore,
  rollout: Rollout,
  rollouts: RolloutStore,
  runner: JobRunner,
  scheduler: Scheduler,
  /** Who the bot is on a forge; null while no forge told it. */
  self: BotSelves,
  /** Of the Console. */
  sessions: SessionStore,
  ruleBehind: RulesBehind,
  ruleCounter: RuleCounter,
  twoPeople: TwoPeople,
  verdicts: RuleVerdicts,
};
type Provided = { readonly [Name in keyof typeof NEEDS]: (typeof NEEDS)[Name]['prototype'] };
export interface Needs extends Provided {
  /** The OpenAPI document of the table of operations. */
  readonly document: () => JsonObject;
  /** Null when this process only serves one command. */
  readonly running: {
    readonly startedAt: Date;
    readonly role: Role;
    readonly queueHealthy: () => Promise<boolean>;
    /** Where browsers reach the Console; null = no process of this bot serves it, as far as this one knows. */
    readonly consoleUrl: () => string | null;
  } | null;
}
