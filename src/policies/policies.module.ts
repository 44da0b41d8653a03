import { Global, Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../core/clock.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { ForgeModule } from '../forge/forge.module.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { FindingSink, PolicyGate } from '../pipeline/policy-gate.port.js';
import { RuleEngine } from '../pipeline/rule-engine.port.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { RuleLoader } from '../rules/revisions/rule-loader.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { FindingKeeper } from './finding-keeper.js';
import { Planner } from './planner.js';
import { makeRuleLoader } from './rule-loader.js';
import { makeRules, makeRuleThread } from './thread/make-rules.js';

/** A first start loads the rules of each organization, one after another: one thread for all of them, for beginning one costs more than a load. */
const REST_MS = 1_000;

const PROVIDERS = [
  // One for all that compile or evaluate expressions in this process: making one takes as long as compiling some rules.
  CelEngine,
  {
    provide: RuleEngine,
    inject: [CelEngine],
    useFactory: (engine: CelEngine) => makeRules(makeRuleThread(), engine),
  },
  {
    provide: RuleLoader,
    inject: [CelEngine, AppConfig, OperatorStore, Clock],
    useFactory: (engine: CelEngine, config: AppConfig, operators: OperatorStore, clock: Clock) =>
      makeRuleLoader(engine, config, operators, clock, makeRuleThread(REST_MS)),
  },
  FindingKeeper,
  Planner,
  { provide: PolicyGate, useExisting: Planner },
  { provide: FindingSink, useExisting: FindingKeeper },
];

/** Desired state: the engine behind rules and policies, plans, approvals, findings. Global, since the pipeline and the rules ask for its ports. */
@Global()
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule],
  providers: PROVIDERS,
  exports: [CelEngine, RuleEngine, RuleLoader, PolicyGate, FindingSink, Planner],
})
export class PoliciesModule {}
