import { Module } from '@nestjs/common';
import { actions } from '../actions/index.js';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { credentialsOf } from '../config/credentials.js';
import { Alerts, RaisedAlerts } from '../core/alerts.js';
import { TrustedProxies } from '../core/client-address.js';
import { Clock } from '../core/clock.js';
import { newId } from '../core/ids.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { Logger } from '../core/logger.js';
import { part, stopping } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { OrgNumbers } from '../forge/org-numbers.js';
import { ForgeInventory } from '../forge/forge-inventory.js';
import { ForgeModule } from '../forge/forge.module.js';
import { ServerAccessReader } from '../forge/server-access.js';
import { Metrics } from '../observability/metrics.js';
import { ArrivalToIntents } from '../pipeline/decide.js';
import { Rehearser } from '../pipeline/execute/rehearse.js';
import { GapStore } from '../pipeline/gap-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { Accounts } from '../pipeline/rule-engine.port.js';
import { TickStore } from '../pipeline/tick-store.port.js';
import { OF_THE_BOT } from '../pipeline/execute/forge-access.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { frozenAt } from '../policies/freeze.js';
import { Planner } from '../policies/planner.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { RulesModule } from '../rules/rules.module.js';
import { ruleVerdictOf } from '../rules/sources/rule-verdicts.js';
import { UntrustedProxyStore } from '../webhooks/untrusted-proxies.port.js';
import { AccountSync } from './account-sync.js';
import { ArchiveFiles } from './archive-files.js';
import { ArchiveInbox } from './archive-inbox.js';
import { ArchiveStore } from './archive-store.port.js';
import { auditKey } from './audit/audit-check.js';
import { AuditStore } from './audit/audit-store.port.js';
import { HookHistory } from '../polling/gaps/hook-history.js';
import { Doctor } from './doctor/doctor.js';
import { jobs } from './jobs/index.js';
import { JobRunner } from './jobs/job-runner.js';
import { OpenAlertStore } from './open-alert-store.port.js';
import { OpenAlerts } from './open-alerts.js';
import { Scheduler } from './scheduler.js';
import { StoreMaintenance } from './store-maintenance.port.js';

const BY = 'housekeeping';

/** How long an order waits for rules that are being loaded. */
const RULES_WITHIN_MS = 15_000;

const PARTS = [
  part(
    ArchiveInbox,
    { config: AppConfig, self: ThisProcess, inbox: InboxStore, store: ArchiveStore, clock: Clock, logger: Logger },
    ({ config: { retention }, self: { onFlushFailed }, inbox, store, clock, logger }) => {
      const files = retention.archive === null ? null : new ArchiveFiles(retention.archive, onFlushFailed);
      return new ArchiveInbox({ inbox, store, files, clock, logger }, retention.inboxDays);
    },
  ),
  part(
    Doctor,
    {
      config: AppConfig,
      self: ThisProcess,
      connected: ConnectedForges,
      numbers: OrgNumbers,
      revisions: RevisionKeeper,
      offers: CapabilityCheck,
      access: ServerAccessReader,
      gaps: GapStore,
      known: KnownFacts,
      proxies: UntrustedProxyStore,
      metrics: Metrics,
      clock: Clock,
    },
    ({
      config,
      self: { role },
      connected,
      numbers,
      revisions,
      offers,
      access,
      gaps,
      known,
      proxies,
      metrics,
      clock,
    }) => {
      const trusted = new TrustedProxies(config.server.trustedProxies);
      return new Doctor({
        forges: credentialsOf(config).map(({ forge, org, credential, auth }) => ({
          id: forge.id,
          org,
          credential,
          baseUrl: forge.baseUrl,
          signsInBy: auth.type === 'token' ? 'token' : 'password',
        })),
        orgs: config.orgs.map(({ name, forge, hooks, rules }) => ({
          org: name,
          forge,
          hooks,
          rulesInRepository: rules.repository !== null,
        })),
        publicUrl: config.server.publicUrl,
        connected,
        lookAt: (forge, org) => {
          const server = connected.unguarded(forge, org);
          return server?.capabilities ? numbers.look(forge, org, server).catch(() => null) : Promise.resolve(null);
        },
        revisions,
        heldBack: (org) => revisions.heldBack(org),
        rulesLoaded: (org) => revisions.loaded(org, RULES_WITHIN_MS),
        ruleVerdict: (forge, org) => ruleVerdictOf(known, forge, org),
        offers,
        access,
        gaps,
        history: new HookHistory(known, clock),
        proxies,
        trustsProxy: (address) => trusted.trusts(address),
        console: config.console,
        // A process without an endpoint has refused nothing.
        refused: (hook) => (role === 'web' || role === 'all' ? metrics.refusedAt(hook) : Promise.resolve(null)),
        clock,
      });
    },
  ),
  part(
    AccountSync,
    {
      accounts: Accounts,
      encryptor: Encryptor,
      rehearser: Rehearser,
      journal: JournalStore,
      queue: WorkQueue,
      clock: Clock,
    },
    ({ accounts, encryptor, rehearser, journal, queue, clock }) =>
      new AccountSync({
        accounts,
        tools: { actions, encryptor, newId },
        rehearse: (intent) => rehearser.rehearse(intent),
        journal,
        ring: () => queue.ring('background', OF_THE_BOT),
        clock,
      }),
  ),
  part(
    JobRunner,
    {
      config: AppConfig,
      forges: ConnectedForges,
      keeper: RevisionKeeper,
      inventory: ForgeInventory,
      planner: Planner,
      doctor: Doctor,
      account: AccountSync,
      archive: ArchiveInbox,
      known: KnownFacts,
      journal: JournalStore,
      ticks: TickStore,
      audit: AuditStore,
      store: StoreMaintenance,
      queue: WorkQueue,
      encryptor: Encryptor,
      alerts: Alerts,
      clock: Clock,
      logger: Logger,
    },
    ({
      config,
      forges,
      keeper,
      inventory,
      planner,
      doctor,
      account,
      archive,
      known,
      journal,
      ticks,
      audit,
      store,
      queue,
      encryptor,
      alerts,
      clock,
      logger,
    }) =>
      new JobRunner({
        jobs,
        orgs: config.orgs.map(({ forge, name }) => ({ forge, org: name })),
        forges: config.forges.map(({ id }) => id),
        audits: config.housekeeping.audits,
        logger,
        tools: {
          clock,
          alerts,
          known,
          forges,
          inventory,
          revisions: keeper,
          journal,
          examine: (scope) => doctor.examine(scope, false),
          archive,
          ticks,
          tickDays: config.retention.tickDays,
          sealAudit: async (limit, youngMs) => {
            const chains = await audit.seal(limit, youngMs, auditKey(encryptor));
            // The log lies elsewhere than the store: a head in it shows that links were taken away at the end.
            for (const { org, added, head } of chains)
              logger.info({ org, added, head: `${head.n}:${head.link}` }, 'audit.sealed');
            return chains;
          },
          maintenance: (what) => store.maintenance(what),
          plan: (org) => planner.plan(org, null, BY),
          planned: (org) => planner.planned(org, null, BY),
          applyPlan: (hash) => planner.apply(hash, BY),
          reloadRules: async (org) => {
            await keeper.lookAgain(org);
            return { hash: (await keeper.active(org))?.revision.hash ?? null, problems: keeper.heldBack(org) };
          },
          wantAccount: (forge, settings, cause, isDryRun) => account.want(forge, settings, cause, isDryRun),
          account: (forge) => config.forges.find(({ id }) => id === forge)?.account ?? null,
          staleBranchDays: config.housekeeping.staleBranchDays,
        },
      }),
  ),
  part(
    Scheduler,
    {
      config: AppConfig,
      revisions: ActiveRevisions,
      flow: ArrivalToIntents,
      runner: JobRunner,
      ticks: TickStore,
      known: KnownFacts,
      clock: Clock,
      logger: Logger,
    },
    ({ config, revisions, flow, runner, ticks, known, clock, logger }) =>
      new Scheduler({
        orgs: config.orgs.map(({ forge, name }) => ({ forge, org: name })),
        revisions,
        jobs: runner.scheduled(),
        ticks,
        known,
        frozen: (name, at) => frozenAt(config.orgs.find((org) => org.name === name)?.freeze ?? [], at),
        decideTick: async (tick) => {
          if (!JobRunner.isJob(tick)) return flow.decideTick(tick);
          await ticks.markDecided(tick.id);
          runner.begin(tick);
          return 0;
        },
        clock,
        logger,
      }),
  ),
  part(
    OpenAlerts,
    { raised: RaisedAlerts, store: OpenAlertStore, clock: Clock },
    ({ raised, store, clock }) => new OpenAlerts(newId(), raised, store, clock),
  ),
  stopping({ alerts: OpenAlerts }, ({ alerts }) => alerts.withdraw()),
  stopping({ archive: ArchiveInbox, scheduler: Scheduler, runner: JobRunner }, ({ archive, scheduler, runner }) =>
    Promise.all([archive.stop(), scheduler.stop().then(() => runner.idle())]),
  ),
];

/** Work by the clock: schedules of rules and policies, jobs, retention, the doctor. */
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule],
  providers: PARTS,
  exports: [ArchiveInbox, Doctor, JobRunner, OpenAlerts, Scheduler],
})
export class HousekeepingModule {}
