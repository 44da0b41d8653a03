import { Global, Module } from '@nestjs/common';
import { actions } from '../actions/index.js';
import { LOOKUP_READER } from '../actions/lookups/lookup-reader.port.js';
import { APP_CONFIG } from '../config/config.module.js';
import { ALERTS, alert } from '../core/alerts.js';
import { CLOCK } from '../core/clock.js';
import { newId } from '../core/ids.js';
import { LOGGER } from '../core/logger.js';
import { OPERATOR_STORE } from '../core/operator-store.port.js';
import { part } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import { SECURITY_LOG } from '../core/security-log.js';
import { TwoPeople } from '../core/two-people.js';
import { ForgeHomes } from '../forge/forge-homes.js';
import { ForgeInventory } from '../forge/forge-inventory.js';
import { ForgeModule } from '../forge/forge.module.js';
import { ActProofs } from '../pipeline/decide/act-proofs.js';
import { CandidateDecider } from '../pipeline/decide/decide-candidate.js';
import { FINDING_SINK, POLICY_GATE } from '../pipeline/policy-gate.port.js';
import { sealReads } from '../pipeline/decide/answer-lookups.js';
import { Rehearser } from '../pipeline/execute/rehearse.js';
import { JOURNAL_STORE } from '../pipeline/journal-store.port.js';
import { RECOVERY_STORE } from '../pipeline/recovery-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { ACCOUNTS, RULE_ENGINE } from '../pipeline/rule-engine.port.js';
import { WORK_QUEUE } from '../pipeline/work-queue.port.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { CapabilityCheck } from '../rules/requirements/capability-check.js';
import { ACTIVE_REVISIONS } from '../rules/revisions/active-revisions.port.js';
import { RULE_LOADER } from '../rules/revisions/rule-loader.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { FINDING_STORE } from './finding-store.port.js';
import { FindingKeeper } from './finding-keeper.js';
import { frozenAt } from './freeze.js';
import { PLAN_STORE } from './plan-store.port.js';
import { Planner } from './planner.js';
import { makeRuleLoader } from './rule-loader.js';
import { makeRules, makeRuleThread } from './thread/make-rules.js';

/** A first start loads the rules of each organization, one after another: one thread for all of them, for beginning one costs more than a load. */
const REST_MS = 1_000;

const PARTS = [
  // One for all that compile or evaluate expressions in this process: making one takes as long as compiling some rules.
  part(CelEngine, {}, () => new CelEngine()),
  part(RULE_ENGINE, { engine: CelEngine }, ({ engine }) => makeRules(makeRuleThread(), engine)),
  part(RULE_LOADER, { engine: CelEngine, config: APP_CONFIG, operators: OPERATOR_STORE, clock: CLOCK }, (deps) =>
    makeRuleLoader(deps, makeRuleThread(REST_MS)),
  ),
  part(
    FindingKeeper,
    { findings: FINDING_STORE, alerts: ALERTS, recovery: RECOVERY_STORE },
    (deps) => new FindingKeeper(deps),
  ),
  // Decides as the pipeline decides, and rehearses as it executes.
  part(
    CandidateDecider,
    {
      rules: RULE_ENGINE,
      lookups: LOOKUP_READER,
      homes: ForgeHomes,
      acts: ActProofs,
      security: SECURITY_LOG,
      accounts: ACCOUNTS,
      journal: JOURNAL_STORE,
      encryptor: Encryptor,
      clock: CLOCK,
      logger: LOGGER,
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
      config: APP_CONFIG,
      revisions: ACTIVE_REVISIONS,
      inventory: ForgeInventory,
      rules: RULE_ENGINE,
      decider: CandidateDecider,
      rehearser: Rehearser,
      offers: CapabilityCheck,
      findings: FindingKeeper,
      plans: PLAN_STORE,
      journal: JOURNAL_STORE,
      queue: WORK_QUEUE,
      encryptor: Encryptor,
      alerts: ALERTS,
      twoPeople: TwoPeople,
      clock: CLOCK,
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
  { provide: POLICY_GATE as symbol, useExisting: Planner },
  { provide: FINDING_SINK as symbol, useExisting: FindingKeeper },
];

/** Desired state: the engine behind rules and policies, plans, approvals, findings. Global, since the pipeline and the rules ask for its ports. */
@Global()
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule],
  providers: PARTS,
  exports: [CelEngine, RULE_ENGINE, RULE_LOADER, POLICY_GATE, FINDING_SINK, Planner],
})
export class PoliciesModule {}
