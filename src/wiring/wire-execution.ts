import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { RevisionStanding } from '../rules/revisions/rule-standing.js';
import { Budgets } from '../pipeline/execute/budget-keeper.js';
import { Executor } from '../pipeline/execute/executor.js';
import { ForgeHealth } from '../pipeline/execute/forge-health.js';
import { KnownMembers } from '../pipeline/execute/known-members.js';
import { IntentToEffect } from '../pipeline/execute.js';
import { OutcomeRecovery } from '../pipeline/recover.js';
import { Settler } from '../pipeline/execute/settle.js';
import { Sweep } from '../pipeline/recover/sweep.js';
import type { RepositoryHomes } from '../core/repository-home.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ArrivalToIntents } from '../pipeline/decide.js';
import { Sealer } from '../core/sealer.js';
import { botAccounts, ownerName, withSettings, type Ground } from './ground.js';
import { makeActProofs } from './wire-flow.js';
import { effectTools } from './effect-tools.js';
import { standingOf } from './wire-revisions.js';

export function makeForgeHealth({ config, clock, logger, alerts }: Ground, forges: ConnectedForges): ForgeHealth {
  return new ForgeHealth({ forges: withSettings(config, forges), clock, alerts, logger });
}

export function makeOutcomeRecovery(ground: Ground, forges: ConnectedForges, sealer: Sealer, health: ForgeHealth, homes: RepositoryHomes): OutcomeRecovery {
  const { logger, alerts } = ground;
  return new OutcomeRecovery({ ...effectTools(ground, forges, sealer, homes), health, random: Math.random, logger, alerts }, { owner: ownerName() });
}

export function makeExecutor(
  ground: Ground,
  forges: ConnectedForges,
  sealer: Sealer,
  unknown: OutcomeRecovery,
  health: ForgeHealth,
  keeper: RevisionKeeper,
  homes: RepositoryHomes,
): Executor {
  const { config, stores, queue, clock, logger, metrics, alerts, security } = ground;
  const settler = new Settler({
    journal: stores.journal,
    unknown,
    clock,
    random: Math.random,
    logger,
    alerts,
    observer: {
      attempted: (operation, outcome) => metrics.attempts.inc({ operation, outcome }),
      ended: (intent) => metrics.effectSeconds.observe((clock.now().getTime() - intent.plannedAt.getTime()) / 1000),
    },
  });
  const effects = new IntentToEffect(
    {
      ...effectTools(ground, forges, sealer, homes),
      health,
      budgets: new Budgets({
        members: new KnownMembers(withSettings(config, forges), clock),
        accounts: botAccounts(forges),
        acts: makeActProofs({ config, stores, clock }, forges, homes),
        inbox: stores.inbox,
        journal: stores.journal,
        clock,
        alerts,
      }),
      alerts,
      security,
      settler,
      standing: new RevisionStanding(keeper, stores.revisions, standingOf(ground)),
    },
    { owner: ownerName() },
  );
  return new Executor({ journal: stores.journal, queue, effects, logger });
}

export function makeSweep({ config, stores, queue, logger }: Ground, flow: ArrivalToIntents, executor: Executor, unknown: OutcomeRecovery): Sweep {
  const deps = {
    journal: stores.journal,
    inbox: stores.inbox,
    queue,
    unknown,
    handlers: {
      arrival: (id: string) => flow.decideArrival(id),
      event: (id: string) => flow.decideEvent(id),
      intent: (id: string) => executor.handle(id),
      upkeep: (id: string) => executor.handle(id),
    },
    decideRun: (id: string) => flow.decideRun(id),
    logger,
  };
  return new Sweep(deps, { everyMs: config.queue.sweepS * 1000 });
}
