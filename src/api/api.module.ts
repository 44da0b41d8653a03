import { Inject, Module } from '@nestjs/common';
import { APP_CONFIG, THIS_PROCESS } from '../config/config.module.js';
import { ALERTS } from '../core/alerts.js';
import { CLOCK } from '../core/clock.js';
import { Encryptor } from '../core/encryptor.js';
import { LOGGER } from '../core/logger.js';
import { OPERATOR_STORE, type OperatorStore } from '../core/operator-store.port.js';
import { part, portToken, type Token } from '../core/part.js';
import { TwoPeople } from '../core/two-people.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeModule } from '../forge/forge.module.js';
import { OrgNumbers } from '../forge/org-numbers.js';
import { ArchiveInbox } from '../housekeeping/archive-inbox.js';
import { AUDIT_STORE } from '../housekeeping/audit/audit-store.port.js';
import { Doctor } from '../housekeeping/doctor/doctor.js';
import { HousekeepingModule } from '../housekeeping/housekeeping.module.js';
import { JobRunner } from '../housekeeping/jobs/job-runner.js';
import { OpenAlerts } from '../housekeeping/open-alerts.js';
import { Scheduler } from '../housekeeping/scheduler.js';
import { BOT_SELF } from '../insight/bot-self.js';
import { ACTIVITY_STORE } from '../insight/activity-store.port.js';
import { Activity } from '../insight/activity.js';
import { BotLoad } from '../insight/bot-load.js';
import { CoverageCounter } from '../insight/coverage.js';
import { RuleCounter } from '../insight/rule-counts.js';
import { Explainer } from '../insight/explainer.js';
import { RULE_BEHIND } from '../insight/rule-behind.js';
import { HISTORY_STORE } from '../insight/history-store.port.js';
import { Backtests } from '../insight/trying/backtests.js';
import { Drafts } from '../insight/trying/drafts.js';
import { InsightModule } from '../insight/insight.module.js';
import { Metrics } from '../observability/metrics.js';
import { ArrivalToIntents } from '../pipeline/decide.js';
import { Rollout } from '../pipeline/decide/rollout.js';
import { GAP_STORE } from '../pipeline/gap-store.port.js';
import { INBOX_STORE } from '../pipeline/inbox-store.port.js';
import { JOURNAL_STORE } from '../pipeline/journal-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { WAITING_STORE } from '../pipeline/waiting-store.port.js';
import { POISON_MESSAGE_STORE } from '../pipeline/poison-message-store.port.js';
import { StorePoll } from '../pipeline/store-poll.js';
import { RECOVERY_STORE } from '../pipeline/recovery-store.port.js';
import { ROLLOUT_STORE } from '../pipeline/rollout-store.port.js';
import { WORK_QUEUE } from '../pipeline/work-queue.port.js';
import { FINDING_STORE } from '../policies/finding-store.port.js';
import { PLAN_STORE } from '../policies/plan-store.port.js';
import { Planner } from '../policies/planner.js';
import { CURSOR_STORE } from '../polling/cursor-store.port.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { REVISION_STORE } from '../rules/revisions/revision-store.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { RuleVerdicts } from '../rules/sources/rule-verdicts.js';
import { ACT_STORE } from './act-store.port.js';
import { Acts } from './acts.js';
import { CurrentControl } from './control.module.js';
import { HealthController } from './health.controller.js';
import { GROUPS, OPERATIONS, type Control } from './operations/index.js';
import type { Needs } from './operations/needs.js';
import { openApi } from './operations/openapi.js';
import { bind, type Group } from './operations/operation.js';
import { KnownNames } from './operations/known-names.js';
import { SEEN_REPOSITORIES } from '../forge/seen-repositories.port.js';
import { RecentDeliveries } from './operations/recent-deliveries.js';
import { Ids, Orders, Orgs } from './operations/shared.js';
import { PersonErasure } from '../housekeeping/erase/person-erasure.js';
import { ERASURE_STORE } from '../housekeeping/erase/erasure-store.port.js';
import { ID_STORE } from './id-store.port.js';
import { SESSION_STORE } from './session-store.port.js';
import { StoreGauges } from './store-gauges.js';
import { STORE_COPIER } from './store-files.port.js';

const CONTROL = portToken<Control>('Control');

const DOCUMENT = portToken<Needs['document']>('Document');
const RUNNING = portToken<Needs['running']>('Running');

/** Where each thing that a handler may ask for comes from. */
const TOKENS: { readonly [Name in keyof Needs]: Token<Needs[Name]> } = {
  acts: ACT_STORE,
  activity: Activity,
  alerts: ALERTS,
  archive: ArchiveInbox,
  arrivals: ACTIVITY_STORE,
  audit: AUDIT_STORE,
  backtests: Backtests,
  clock: CLOCK,
  config: APP_CONFIG,
  copier: STORE_COPIER,
  coverage: CoverageCounter,
  cursors: CURSOR_STORE,
  doctor: Doctor,
  document: DOCUMENT,
  drafts: Drafts,
  encryptor: Encryptor,
  erasure: PersonErasure,
  explainer: Explainer,
  findings: FINDING_STORE,
  flow: ArrivalToIntents,
  forges: ConnectedForges,
  gaps: GAP_STORE,
  history: HISTORY_STORE,
  ids: Ids,
  inbox: INBOX_STORE,
  journal: JOURNAL_STORE,
  keeper: RevisionKeeper,
  numbers: OrgNumbers,
  offers: CapabilityCheck,
  openAlerts: OpenAlerts,
  operators: OPERATOR_STORE,
  orders: Orders,
  orgs: Orgs,
  planner: Planner,
  plans: PLAN_STORE,
  poisonMessages: POISON_MESSAGE_STORE,
  waiting: WAITING_STORE,
  recentDeliveries: RecentDeliveries,
  recovery: RECOVERY_STORE,
  revisions: REVISION_STORE,
  rollout: Rollout,
  rollouts: ROLLOUT_STORE,
  runner: JobRunner,
  running: RUNNING,
  scheduler: Scheduler,
  self: BOT_SELF,
  sessions: SESSION_STORE,
  ruleBehind: RULE_BEHIND,
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
    { store: ERASURE_STORE, encryptor: Encryptor },
    ({ store, encryptor }) => new PersonErasure(store, encryptor),
  ),
  part(Ids, { store: ID_STORE }, ({ store }) => new Ids(store)),
  part(
    Acts,
    { store: ACT_STORE, ids: Ids, orgs: Orgs, logger: LOGGER },
    ({ store, ids, orgs, logger }) => new Acts(store, ids, orgs, logger),
  ),
  part(RecentDeliveries, { gaps: GAP_STORE, clock: CLOCK }, ({ gaps, clock }) => new RecentDeliveries(gaps, clock)),
  part(KnownNames, { orgs: Orgs, seen: SEEN_REPOSITORIES, clock: CLOCK }, (deps) => new KnownNames(deps)),
  part(Orgs, { config: APP_CONFIG, forges: ConnectedForges }, ({ config, forges }) => new Orgs(config, forges)),
  part(
    StoreGauges,
    {
      inbox: INBOX_STORE,
      journal: JOURNAL_STORE,
      cursors: CURSOR_STORE,
      orgs: Orgs,
      metrics: Metrics,
      clock: CLOCK,
    },
    (deps) => new StoreGauges(deps),
  ),
  part(
    Orders,
    { process: THIS_PROCESS, forges: ConnectedForges, poll: StorePoll, logger: LOGGER },
    ({ process: { role, serves }, forges, poll, logger }) =>
      new Orders({
        logger,
        connect: async () => (serves === 'bot' ? undefined : forges.start()),
        nudge: () => (serves === 'bot' && (role === 'worker' || role === 'all') ? void poll.pass() : undefined),
      }),
  ),
  part(
    RUNNING,
    { process: THIS_PROCESS, config: APP_CONFIG, queue: WORK_QUEUE },
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
    inject: [OPERATOR_STORE, StoreGauges, BotLoad, KnownNames, ...BOUND.map(({ provide }) => provide)],
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
