import type { Abstract, DynamicModule, Provider, Type } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { HealthController, READINESS } from './api/health.controller.js';
import type { Readiness } from './api/health.controller.js';
import type { Role } from './config/app-config.js';
import { RevisionKeeper } from './rules/revisions/revision-keeper.js';
import { Executor } from './pipeline/execute/executor.js';
import { Sweep } from './pipeline/recover/sweep.js';
import { ForgeHealth } from './pipeline/execute/forge-health.js';
import { OutcomeRecovery } from './pipeline/recover.js';
import { LOGGER, type Logger } from './core/logger.js';
import { ConnectedForges } from './forge/connected-forges.js';
import { GapKeeper } from './polling/gaps/gap-keeper.js';
import { ArchiveInbox } from './housekeeping/archive-inbox.js';
import { ForgeHomes } from './forge/forge-homes.js';
import { ForgeInventory } from './forge/forge-inventory.js';
import { JobRunner } from './housekeeping/jobs/job-runner.js';
import { SCHEDULER, ScheduleWake } from './housekeeping/schedule-wake.cron.js';
import { OfferCheck } from './rules/requirements/offer-check.js';
import { RuleVerdicts } from './rules/sources/rule-verdicts.js';
import { Scheduler } from './housekeeping/scheduler.js';
import { ServerFootings } from './forge/server-footing.js';
import { STORE_UPKEEP, StoreUpkeepWake } from './housekeeping/store-upkeep.cron.js';
import { Wakes } from './housekeeping/wakes.cron.js';
import { PollWake } from './polling/poll-wake.cron.js';
import { PollLoop } from './polling/poll-loop.js';
import type { UndecidedBytes } from './webhooks/undecided-bytes.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { ArrivalToIntents } from './pipeline/decide.js';
import { Sealer } from './core/sealer.js';
import { Planner } from './policies/planner.js';
import { queueModule } from './queue/queue.module.js';
import { SHARED_PAUSES } from './forge/http/shared-pauses.port.js';
import { WAKE_QUEUE } from './pipeline/wake-queue.port.js';
import type { WakeQueue } from './pipeline/wake-queue.port.js';
import { GROUND, INVENTORY, REVISIONS, RULES } from './wiring/tokens.js';
import type { Ground } from './wiring/ground.js';
import { makeOfferCheck, makeServerFootings } from './wiring/wire-doctor.js';
import * as execution from './wiring/wire-execution.js';
import { makeFlow } from './wiring/wire-flow.js';
import { makeForges, makeHomes, makeSealer } from './wiring/wire-forges.js';
import { makeGapKeeper } from './wiring/wire-gaps.js';
import * as housekeeping from './wiring/wire-housekeeping.js';
import { makePollLoop, makeUndecidedBytes, webhookDeps } from './wiring/wire-ingest.js';
import { makePlanner } from './wiring/wire-planner.js';
import { makeRevisionKeeper, revisionsOfConnected } from './wiring/wire-revisions.js';
import { makeRuleVerdicts } from './wiring/wire-rule-sources.js';
import { makeRules, makeRuleThread } from './wiring/wire-rule-thread.js';

/** Every part as a provider, in the order of the flow. Nothing starts by being made; `main.ts` starts and stops. */
@Module({})
export class AppModule {
  static async of(base: Omit<Ground, 'queue'>, role: Role, readiness: Readiness): Promise<DynamicModule> {
    const isWeb = role === 'web' || role === 'all';
    const isScheduler = role === 'scheduler' || role === 'all';
    const queue = await queueModule(base.config.queue, { logger: base.logger });
    const undecided = makeUndecidedBytes(base);
    const webhooks = WebhooksModule.forRootAsync({ inject: [WAKE_QUEUE], useFactory: (wakes: WakeQueue) => webhookDeps({ ...base, queue: wakes }, undecided) });
    return {
      module: AppModule,
      imports: [ScheduleModule.forRoot(), queue, ...(isWeb ? [webhooks] : [])],
      controllers: [HealthController],
      providers: [
        { provide: READINESS, useValue: readiness },
        { provide: GROUND, inject: [WAKE_QUEUE], useFactory: (wakes: WakeQueue): Ground => ({ ...base, queue: wakes }) },
        ...PARTS,
        ...(isScheduler ? WAKES : []),
        otherWakes({ isWeb, isScheduler }, undecided),
      ],
    };
  }
}

type Token<Part> = Type<Part> | Abstract<Part> | symbol;

/** A part made of the ground and of parts before it. */
function part<Part, Needs extends unknown[]>(
  token: Token<Part>,
  needs: { [N in keyof Needs]: Token<Needs[N]> },
  make: (ground: Ground, ...needs: Needs) => Part,
): Provider {
  return { provide: token as symbol, inject: [GROUND, ...(needs as symbol[])], useFactory: make as (...all: unknown[]) => Part };
}

const PARTS: Provider[] = [
  part(ConnectedForges, [SHARED_PAUSES], makeForges),
  part(Sealer, [], makeSealer),
  part(ForgeHomes, [ConnectedForges], makeHomes),
  part(RuleVerdicts, [ConnectedForges, Sealer], makeRuleVerdicts),
  part(RevisionKeeper, [ConnectedForges, RuleVerdicts], makeRevisionKeeper),
  part(RULES, [], () => makeRules(makeRuleThread())),
  part(REVISIONS, [RevisionKeeper, ConnectedForges], revisionsOfConnected),
  part(ServerFootings, [], makeServerFootings),
  part(OfferCheck, [RevisionKeeper, ConnectedForges, ServerFootings], makeOfferCheck),
  part(ForgeInventory, [ConnectedForges, ForgeHomes], housekeeping.makeInventory),
  { provide: INVENTORY, useExisting: ForgeInventory },
  part(Planner, [ConnectedForges, Sealer, REVISIONS, RULES, INVENTORY, OfferCheck, ForgeHomes], makePlanner),
  part(ArrivalToIntents, [ConnectedForges, Sealer, REVISIONS, RULES, INVENTORY, Planner, RevisionKeeper, OfferCheck, ForgeHomes], makeFlow),
  part(ForgeHealth, [ConnectedForges], execution.makeForgeHealth),
  part(OutcomeRecovery, [ConnectedForges, Sealer, ForgeHealth, ForgeHomes], execution.makeOutcomeRecovery),
  part(Executor, [ConnectedForges, Sealer, OutcomeRecovery, ForgeHealth, RevisionKeeper, ForgeHomes], execution.makeExecutor),
  part(Sweep, [ArrivalToIntents, Executor, OutcomeRecovery], execution.makeSweep),
  part(PollLoop, [ConnectedForges, GapKeeper, ForgeHomes], makePollLoop),
  part(GapKeeper, [ConnectedForges], makeGapKeeper),
  part(ArchiveInbox, [], housekeeping.makeArchive),
  part(
    JobRunner,
    [ConnectedForges, RevisionKeeper, ForgeInventory, Planner, OfferCheck, ServerFootings, ArchiveInbox, Sealer, ForgeHomes],
    housekeeping.makeJobRunner,
  ),
  part(Scheduler, [REVISIONS, ArrivalToIntents, JobRunner], housekeeping.makeScheduler),
  { provide: SCHEDULER, useExisting: Scheduler },
  part(LOGGER, [], ({ logger }) => logger),
  part(STORE_UPKEEP, [], ({ stores }) => stores),
];

/** Timers of the framework, in processes that schedule. They begin when the application is up. */
const WAKES: Provider[] = [ScheduleWake, PollWake, StoreUpkeepWake];

/** The others of them, of which each is a line in the wiring. */
function otherWakes({ isWeb, isScheduler }: { isWeb: boolean; isScheduler: boolean }, undecided: UndecidedBytes): Provider {
  return {
    provide: Wakes,
    inject: [SchedulerRegistry, GapKeeper, ArchiveInbox, LOGGER],
    useFactory: (registry: SchedulerRegistry, gaps: GapKeeper, archive: ArchiveInbox, logger: Logger) =>
      new Wakes(
        registry,
        [...(isScheduler ? housekeeping.schedulerWakes(gaps, archive) : []), ...(isWeb ? housekeeping.receiverWakes(gaps, undecided) : [])],
        logger,
      ),
  };
}
