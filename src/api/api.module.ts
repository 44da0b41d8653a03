import { Inject, Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { Encryptor } from '../core/encryptor.js';
import { Logger } from '../core/logger.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { part, portToken, type Token } from '../core/part.js';
import { TwoPeople } from '../core/two-people.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeModule } from '../forge/forge.module.js';
import { OrgNumbers } from '../forge/org-numbers.js';
import { ArchiveInbox } from '../housekeeping/archive-inbox.js';
import { AuditStore } from '../housekeeping/audit/audit-store.port.js';
import { Doctor } from '../housekeeping/doctor/doctor.js';
import { HousekeepingModule } from '../housekeeping/housekeeping.module.js';
import { JobRunner } from '../housekeeping/jobs/job-runner.js';
import { OpenAlerts } from '../housekeeping/open-alerts.js';
import { Scheduler } from '../housekeeping/scheduler.js';
import { BotSelves } from '../insight/bot-self.js';
import { ActivityStore } from '../insight/activity-store.port.js';
import { Activity } from '../insight/activity.js';
import { BotLoad } from '../insight/bot-load.js';
import { CoverageCounter } from '../insight/coverage.js';
import { RuleCounter } from '../insight/rule-counts.js';
import { Explainer } from '../insight/explainer.js';
import { RulesBehind } from '../insight/rules-behind.js';
import { HistoryStore } from '../insight/history-store.port.js';
import { Backtests } from '../insight/trying/backtests.js';
import { Drafts } from '../insight/trying/drafts.js';
import { InsightModule } from '../insight/insight.module.js';
import { Metrics } from '../observability/metrics.js';
import { ArrivalToIntents } from '../pipeline/decide.js';
import { Rollout } from '../pipeline/decide/rollout.js';
import { GapStore } from '../pipeline/gap-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { WaitingStore } from '../pipeline/waiting-store.port.js';
import { PoisonMessageStore } from '../pipeline/poison-message-store.port.js';
import { StorePoll } from '../pipeline/store-poll.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';
import { RolloutStore } from '../pipeline/rollout-store.port.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { FindingStore } from '../policies/finding-store.port.js';
import { PlanStore } from '../policies/plan-store.port.js';
import { Planner } from '../policies/planner.js';
import { CursorStore } from '../polling/cursor-store.port.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { RevisionStore } from '../rules/revisions/revision-store.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { RuleVerdicts } from '../rules/sources/rule-verdicts.js';
import { ActStore } from './act-store.port.js';
import { Acts } from './acts.js';
import { CurrentControl } from './control.module.js';
import { HealthController } from './health.controller.js';
import { GROUPS, OPERATIONS, type Control } from './operations/index.js';
import type { Needs } from './operations/needs.js';
import { openApi } from './operations/openapi.js';
import { bind, type Group } from './operations/operation.js';
import { KnownNames } from './operations/known-names.js';
import { SeenRepositories } from '../forge/seen-repositories.port.js';
import { RecentDeliveries } from './operations/recent-deliveries.js';
import { Ids, Orders, Orgs } from './operations/shared.js';
import { PersonErasure } from '../housekeeping/erase/person-erasure.js';
import { ErasureStore } from '../housekeeping/erase/erasure-store.port.js';
import { IdStore } from './id-store.port.js';
import { SessionStore } from './session-store.port.js';
import { StoreGauges } from './store-gauges.js';
import { StoreCopier } from './store-files.port.js';

const CONTROL = portToken<Control>('Control');

const DOCUMENT = portToken<Needs['document']>('Document');
const RUNNING = portToken<Needs['running']>('Running');

/** Where each thing that a handler may ask for comes from. */
const TOKENS: { readonly [Name in keyof Needs]: Token<Needs[Name]> } = {
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
  document: DOCUMENT,
  drafts: Drafts,
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
  numbers: OrgNumbers,
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
  revisions: RevisionStore,
  rollout: Rollout,
  rollouts: RolloutStore,
  runner: JobRunner,
  running: RUNNING,
  scheduler: Scheduler,
  self: BotSelves,
  sessions: SessionStore,
  ruleBehind: RulesBehind,
  ruleCounter: RuleCounter,
  twoPeople: TwoPeople,
  verdicts: RuleVerdicts,
};

/** The operations of each subject, with what that subject needs and nothing else. */
const BOUND = Object.entries(GROUPS).map(([name, group]: [string, Group]) => {
  const needed = new Set(Object.values(group).flatMap(({ needs }) => needs));
  const tokens = Object.fromEntries([...needed].map((need) => [need, TOKENS[need]]));
  return part<unknown, { recorded: Acts; known: KnownNames }>(
    portToken(name),
    { ...tokens, recorded: Acts, known: KnownNames },
    ({ recorded, known, ...needs }) => bind(group, needs as unknown as Needs, recorded, known),
  );
});

const PARTS = [
  part(
    PersonErasure,
    { store: ErasureStore, encryptor: Encryptor },
    ({ store, encryptor }) => new PersonErasure(store, encryptor),
  ),
  part(Ids, { store: IdStore }, ({ store }) => new Ids(store)),
  part(
    Acts,
    { store: ActStore, ids: Ids, orgs: Orgs, logger: Logger },
    ({ store, ids, orgs, logger }) => new Acts(store, ids, orgs, logger),
  ),
  part(RecentDeliveries, { gaps: GapStore, clock: Clock }, ({ gaps, clock }) => new RecentDeliveries(gaps, clock)),
  part(KnownNames, { orgs: Orgs, seen: SeenRepositories, clock: Clock }, (deps) => new KnownNames(deps)),
  part(Orgs, { config: AppConfig, forges: ConnectedForges }, ({ config, forges }) => new Orgs(config, forges)),
  part(
    StoreGauges,
    {
      inbox: InboxStore,
      journal: JournalStore,
      cursors: CursorStore,
      orgs: Orgs,
      metrics: Metrics,
      clock: Clock,
    },
    (deps) => new StoreGauges(deps),
  ),
  part(
    Orders,
    { process: ThisProcess, forges: ConnectedForges, poll: StorePoll, logger: Logger },
    ({ process: { role, serves }, forges, poll, logger }) =>
      new Orders({
        logger,
        connect: async () => (serves === 'bot' ? undefined : forges.start()),
        nudge: () => (serves === 'bot' && (role === 'worker' || role === 'all') ? void poll.pass() : undefined),
      }),
  ),
  part(
    RUNNING,
    { process: ThisProcess, config: AppConfig, queue: WorkQueue },
    ({ process: self, config: { console, store }, queue }) => {
      if (self.serves !== 'bot') return null;
      // The Console of a distributed bot is another process, where the config says.
      const elsewhere =
        store.kind !== 'embedded' && console.enabled ? (console.publicUrl ?? `http://${console.listen}`) : null;
      return {
        startedAt: self.startedAt,
        role: self.role,
        queueHealthy: () => queue.healthy(),
        consoleUrl: () => self.consoleUrl ?? elsewhere,
      };
    },
  ),
  { provide: DOCUMENT, useValue: () => openApi(OPERATIONS) },
  ...BOUND,
  {
    provide: CONTROL,
    inject: [OperatorStore, StoreGauges, BotLoad, KnownNames, ...BOUND.map(({ provide }) => provide)],
    useFactory: (
      operators: OperatorStore,
      gauges: StoreGauges,
      load: BotLoad,
      known: KnownNames,
      ...groups: object[]
    ): Control => {
      const operations = Object.assign({}, ...groups) as Control['operations'];
      return {
        operations,
        known,
        operatorOf: (tokenHash) => operators.byTokenHash(tokenHash),
        isBusy: () => load.isBusy(),
        readGauges: () => gauges.read(),
      };
    },
  },
];

/** What people and supervisors ask: the control API of the command line, and health. Orders are taken from when every part they need is made. */
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule, HousekeepingModule, InsightModule],
  controllers: [HealthController],
  providers: PARTS,
})
export class ApiModule {
  constructor(@Inject(CONTROL) service: Control, current: CurrentControl) {
    current.service = service;
  }
}
