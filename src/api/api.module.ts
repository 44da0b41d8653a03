import { Module, type DynamicModule } from '@nestjs/common';
import { APP_CONFIG, THIS_PROCESS } from '../config/config.module.js';
import { ALERTS } from '../core/alerts.js';
import { callingAs, type CallLane } from '../core/caller.js';
import { CLOCK } from '../core/clock.js';
import { UserError } from '../core/errors.js';
import { LOGGER } from '../core/logger.js';
import { OPERATOR_STORE } from '../core/operator-store.port.js';
import { part, portToken } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import { TwoPeople } from '../core/two-people.js';
import { VERSION } from '../core/version.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeModule } from '../forge/forge.module.js';
import { ArchiveInbox } from '../housekeeping/archive-inbox.js';
import { auditKey, checkPage } from '../housekeeping/audit/audit-check.js';
import { AUDIT_STORE } from '../housekeeping/audit/audit-store.port.js';
import { Doctor } from '../housekeeping/doctor/doctor.js';
import { HousekeepingModule } from '../housekeeping/housekeeping.module.js';
import { JobRunner } from '../housekeeping/jobs/job-runner.js';
import { Scheduler } from '../housekeeping/scheduler.js';
import { BOT_SELF } from '../insight/bot-self.js';
import { Explainer } from '../insight/explainer.js';
import { HISTORY_STORE } from '../insight/history-store.port.js';
import { InsightModule } from '../insight/insight.module.js';
import { Metrics } from '../observability/metrics.js';
import { POISON_MESSAGE_STORE } from '../pipeline/poison-message-store.port.js';
import { ArrivalToIntents } from '../pipeline/decide.js';
import { Rollout, stagedOf } from '../pipeline/decide/rollout.js';
import { openReads } from '../pipeline/decide/sealed-answers.js';
import { GAP_STORE } from '../pipeline/gap-store.port.js';
import { INBOX_STORE } from '../pipeline/inbox-store.port.js';
import { JOURNAL_STORE } from '../pipeline/journal-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { Sweep } from '../pipeline/recover/sweep.js';
import { RECOVERY_STORE } from '../pipeline/recovery-store.port.js';
import { ROLLOUT_STORE } from '../pipeline/rollout-store.port.js';
import { WAKE_QUEUE } from '../pipeline/wake-queue.port.js';
import { FINDING_STORE } from '../policies/finding-store.port.js';
import { PLAN_STORE } from '../policies/plan-store.port.js';
import { Planner } from '../policies/planner.js';
import { CURSOR_STORE } from '../polling/cursor-store.port.js';
import { readTaskPosition } from '../polling/task-position.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { REVISION_STORE } from '../rules/revisions/revision-store.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { RuleVerdicts } from '../rules/sources/rule-verdicts.js';
import { HealthController, READINESS, type Readiness } from './health.controller.js';
import { StoreControl } from './store-control.js';
import { STORE_COPIER } from './store-files.port.js';

/** Whom the control API serves: a running bot, or one command that opened the store itself. */
export type Serves = 'bot' | 'command';
const SERVES = portToken<Serves>('Serves');

const PARTS = [
  part(
    StoreControl,
    {
      serves: SERVES,
      config: APP_CONFIG,
      process: THIS_PROCESS,
      forges: ConnectedForges,
      keeper: RevisionKeeper,
      offers: CapabilityCheck,
      verdicts: RuleVerdicts,
      flow: ArrivalToIntents,
      scheduler: Scheduler,
      sweep: Sweep,
      doctor: Doctor,
      runner: JobRunner,
      archive: ArchiveInbox,
      planner: Planner,
      explainer: Explainer,
      rollout: Rollout,
      self: BOT_SELF,
      twoPeople: TwoPeople,
      inbox: INBOX_STORE,
      journal: JOURNAL_STORE,
      gaps: GAP_STORE,
      recovery: RECOVERY_STORE,
      poisonMessages: POISON_MESSAGE_STORE,
      revisions: REVISION_STORE,
      cursors: CURSOR_STORE,
      plans: PLAN_STORE,
      findings: FINDING_STORE,
      operators: OPERATOR_STORE,
      audit: AUDIT_STORE,
      history: HISTORY_STORE,
      rollouts: ROLLOUT_STORE,
      copier: STORE_COPIER,
      queue: WAKE_QUEUE,
      encryptor: Encryptor,
      metrics: Metrics,
      alerts: ALERTS,
      clock: CLOCK,
      logger: LOGGER,
    },
    ({
      serves,
      config,
      process: { role, startedAt },
      forges,
      keeper,
      offers,
      verdicts,
      flow,
      scheduler,
      sweep,
      doctor,
      runner,
      archive,
      planner,
      explainer,
      rollout,
      self,
      twoPeople,
      inbox,
      journal,
      gaps,
      recovery,
      poisonMessages,
      revisions,
      cursors,
      plans,
      findings,
      operators,
      audit,
      history,
      rollouts,
      copier,
      queue,
      encryptor,
      metrics,
      alerts,
      clock,
      logger,
    }) => {
      const isRunning = serves === 'bot';
      const forgeOf = new Map(config.orgs.map((org) => [org.name, org.forge]));
      // A running bot connects by itself; a command that opened the store does it for the orders that decide.
      const connectForCommand = async (): Promise<void> => (isRunning ? undefined : forges.start());
      return new StoreControl({
        config,
        version: VERSION,
        inbox,
        journal,
        opened: (run) => openReads(run, encryptor),
        gaps,
        recovery,
        poisonMessages,
        metrics,
        running: isRunning ? { startedAt, role, queueHealthy: () => queue.healthy() } : null,
        forges: () =>
          forges.list().map(({ credential, capabilities }) => ({
            id: credential,
            product: capabilities?.product ?? null,
            version: capabilities?.version ?? null,
            self: capabilities?.self?.login ?? null,
            reachable: isRunning ? capabilities !== null : null,
          })),
        org: async (name) => {
          const kept = await keeper.active(name);
          const stored = kept ? null : await revisions.active(name);
          const revision = kept
            ? {
                hash: kept.revision.hash,
                rules: kept.revision.rules.length,
                policies: kept.revision.policies.length,
                loadedAt: kept.loadedAt,
              }
            : stored && { hash: stored.hash, rules: null, policies: null, loadedAt: stored.loadedAt };
          return {
            revision,
            heldBack: [...keeper.heldBack(name)],
            lacking: [...offers.lacking(name)],
            source: (await verdicts.of(forgeOf.get(name) ?? '', name)) ?? null,
          };
        },
        originOf: async (id) => (await revisions.byId(id))?.origin ?? null,
        ruleIds: async (name) => {
          const kept = await keeper.active(name);
          return kept ? [...kept.revision.rules, ...kept.revision.policies].map(({ id }) => id) : null;
        },
        readsLists: (name, operation) => {
          const org = config.orgs.find((one) => one.name === name);
          return (
            org !== undefined && org.lists.everyS > 0 && (forges.get(org.forge, org.name)?.offers(operation) ?? false)
          );
        },
        cursorAge: async (forge, org, source) => {
          const stored = await cursors.read(forge, org, source);
          const oldest = source === 'tasks' ? readTaskPosition(stored?.position)?.oldestReadAt : null;
          return stored && { advancedAt: stored.advancedAt, oldestReadAt: oldest ? new Date(oldest) : null };
        },
        replayEvent: async (id) => {
          await connectForCommand();
          return ordered('interactive', null, () => flow.replayEvent(id));
        },
        runSchedule: async (org, schedule) => {
          await connectForCommand();
          return ordered('housekeeping', org, () => scheduler.runNow(org, schedule));
        },
        doctor: async (org, operations) => {
          await connectForCommand();
          return doctor.examine({ org: org ?? undefined }, operations);
        },
        installHook: async (org, orders) => {
          await connectForCommand();
          return doctor.installHook(org, orders);
        },
        jobs: () => runner.list(),
        runJob: async (job, org, isDryRun, by) => {
          await connectForCommand();
          return runner.run(job, org, isDryRun, by);
        },
        restore: (file) => archive.restore(file),
        copyStoreFiles: () => copier.copyFiles(),
        plan: async (org, policy, by) => {
          await connectForCommand();
          return ordered('housekeeping', org, () => planner.plan(org, policy, by));
        },
        applyPlan: async (hash, by) => {
          await connectForCommand();
          return ordered('housekeeping', null, () => planner.apply(hash, by));
        },
        decidePlan: async (hash, verdict, by) => {
          await connectForCommand();
          return ordered('housekeeping', null, () => planner.decide(hash, verdict, by));
        },
        plans,
        findings,
        operators,
        twoPeople,
        actorOf: async (eventId) => (await inbox.event(eventId))?.actor?.login ?? null,
        audit: (org, after, limit) => checkPage(audit, auditKey(encryptor), org, after, limit),
        explain: (query) => ordered('interactive', null, () => explainer.explain(query)),
        history,
        rollouts,
        promote: async (org, id, order, by) => {
          const kept = await keeper.active(org);
          const rule = kept?.revision.rules.find((one) => one.id === id);
          if (!rule) throw new UserError('NO_SUCH_RULE', `the active revision of ${org} has no rule ${id}`);
          const minDecisions = config.orgs.find(({ name }) => name === org)?.promotion.minDecisions ?? 0;
          return rollout.promote(org, stagedOf(rule), order.to, by, { force: order.force, minDecisions });
        },
        self,
        record: (order, by, facts) => logger.info({ order, by, ...facts }, 'order recorded'),
        nudge: () => (isRunning && (role === 'worker' || role === 'all') ? void sweep.pass() : undefined),
        alerts,
        now: () => clock.now(),
      });
    },
  ),
];

/** What people and supervisors ask: the control API of the command line, and health. */
@Module({})
export class ApiModule {
  static of(serves: Serves, readiness: Readiness): DynamicModule {
    return {
      module: ApiModule,
      imports: [ForgeModule, RulesModule, PipelineModule, HousekeepingModule, InsightModule],
      controllers: [HealthController],
      providers: [{ provide: READINESS, useValue: readiness }, { provide: SERVES, useValue: serves }, ...PARTS],
      exports: [StoreControl],
    };
  }
}

/** A person waits for an order; what reads whole organizations for one waits behind events all the same. */
function ordered<Result>(lane: CallLane, org: string | null, work: () => Promise<Result>): Promise<Result> {
  return callingAs({ lane, org }, work);
}
