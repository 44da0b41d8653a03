import { Global, Module } from '@nestjs/common';
import { actions } from '../actions/index.js';
import { LookupReader } from '../actions/lookups/lookup-reader.port.js';
import { AppConfig } from '../config/app-config.js';

import { Alerts, alert } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/logger.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { part } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import { SecurityLog } from '../core/security-log.js';
import { TwoPeople } from '../core/two-people.js';
import { ForgeHomes } from '../forge/forge-homes.js';
import { ForgeInventory } from '../forge/forge-inventory.js';
import { ForgeModule } from '../forge/forge.module.js';
import { ActProofs } from '../pipeline/decide/act-proofs.js';
import { CandidateDecider } from '../pipeline/decide/decide-candidate.js';
import { FINDING_SINK, PolicyGate } from '../pipeline/policy-gate.port.js';
import { sealReads } from '../pipeline/decide/answer-lookups.js';
import { Rehearser } from '../pipeline/execute/rehearse.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { Accounts, RuleEngine } from '../pipeline/rule-engine.port.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { RuleLoader } from '../rules/revisions/rule-loader.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { FindingStore } from './finding-store.port.js';
import { FindingKeeper } from './finding-keeper.js';
import { frozenAt } from './freeze.js';
import { PlanStore } from './plan-store.port.js';
import { Planner } from './planner.js';
import { makeRuleLoader } from './rule-loader.js';
import { makeRules, makeRuleThread } from './thread/make-rules.js';

/** A first start loads the rules of each organization, one after another: one thread for all of them, for beginning one costs more than a load. */
const REST_MS = 1_000;

const PARTS = [
  // One for all that compile or evaluate expressions in this process: making one takes as long as compiling some rules.
  part(CelEngine, {}, () => new CelEngine()),
  part(RuleEngine, { engine: CelEngine }, ({ engine }) => makeRules(makeRuleThread(), engine)),
  part(RuleLoader, { engine: CelEngine, config: AppConfig, operators: OperatorStore, clock: Clock }, (deps) =>
    makeRuleLoader(deps, makeRuleThread(REST_MS)),
  ),
  part(
    FindingKeeper,
    { findings: FindingStore, alerts: Alerts, recovery: RecoveryStore },
    (deps) => new FindingKeeper(deps),
  ),
  // Decides as the pipeline decides, and rehearses as it executes.
  part(
    CandidateDecider,
    {
      rules: RuleEngine,
      lookups: LookupReader,
      homes: ForgeHomes,
      acts: ActProofs,
      security: SecurityLog,
      accounts: Accounts,
      journal: JournalStore,
      encryptor: Encryptor,
      clock: Clock,
      logger: Logger,
    },
    ({ rules, lookups, homes, acts, security, accounts, journal, encryptor, clock, logger }) =>
      new CandidateDecider({
        rules,
        lookups,
        homes,
        acts,
        security,
        accounts,
        journal,
        tools: { actions, encryptor, newId },
        clock,
        logger,
      }),
  ),
  part(
    Planner,
    {
      config: AppConfig,
      revisions: ActiveRevisions,
      inventory: ForgeInventory,
      rules: RuleEngine,
      decider: CandidateDecider,
      rehearser: Rehearser,
      offers: CapabilityCheck,
      findings: FindingKeeper,
      plans: PlanStore,
      journal: JournalStore,
      queue: WorkQueue,
      encryptor: Encryptor,
      alerts: Alerts,
      twoPeople: TwoPeople,
      clock: Clock,
    },
    ({
      config,
      revisions,
      inventory,
      rules,
      decider,
      rehearser,
      offers,
      findings,
      plans,
      journal,
      queue,
      encryptor,
      alerts,
      twoPeople,
      clock,
    }) => {
      const rateOf = new Map(config.forges.map(({ id, ratePerS }) => [id, ratePerS]));
      return new Planner({
        orgs: config.orgs.map(({ forge, name, trusted, budgets }) => ({
          forge,
          org: name,
          trusted,
          caps: { effectsPerPlan: budgets.effectsPerPlan, percentOfSubjects: budgets.percentOfSubjects },
          pace: { ratePerS: rateOf.get(forge) ?? Number.POSITIVE_INFINITY, effectsPerHour: budgets.effectsPerHour },
        })),
        revisions,
        inventory,
        rules,
        decide: (active, candidate, subject) => decider.decide(active, candidate, subject),
        rehearse: (intent) => rehearser.rehearse(intent),
        heldBack: (org) => offers.heldNow(org),
        plans,
        journal: {
          lastSettled: (effectKey) => journal.lastSettled(effectKey),
          recordDecision: (decided, runs) =>
            journal.recordDecision(
              decided,
              runs.map((run) => sealReads(run, encryptor)),
            ),
        },
        ring: (org) => queue.ring('background', org),
        found: (run) => findings.keep(run),
        waits: ({ hash, org, policy }) =>
          alerts.raise(
            `plan.approval/${org}/${policy ?? ''}`,
            alert('plan.approval', { org, plan: hash.slice(0, 12) }),
            { plan: hash },
          ),
        frozen: ({ revision }, at) => frozenAt(config.orgs.find(({ name }) => name === revision.org)?.freeze ?? [], at),
        twoPeople,
        clock,
      });
    },
  ),
  { provide: PolicyGate, useExisting: Planner },
  { provide: FINDING_SINK as symbol, useExisting: FindingKeeper },
];

/** Desired state: the engine behind rules and policies, plans, approvals, findings. Global, since the pipeline and the rules ask for its ports. */
@Global()
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule],
  providers: PARTS,
  exports: [CelEngine, RuleEngine, RuleLoader, PolicyGate, FINDING_SINK, Planner],
})
export class PoliciesModule {}
