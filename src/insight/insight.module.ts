import { Global, Module } from '@nestjs/common';
import { Draining } from '../platform/draining.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { PureRuleEngine } from '../policies/pure-rule-engine.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { RulesModule } from '../rules/rules.module.js';
import { RuleHistory } from '../rules/sources/rule-history.port.js';
import { Activity } from './activity.js';
import { BotLoad } from './bot-load.js';
import { BotSelves } from './bot-self.js';
import { CoverageCounter } from './coverage.js';
import { Explainer } from './explainer.js';
import { OwnActs } from './own-acts.js';
import { PastRules } from './past-rules.js';
import { StoredRevisions } from './revisions.js';
import { RuleCounter } from './rule-counts.js';
import { RulesBehind } from './rules-behind.js';
import { StoredRuleHistory } from './stored-rule-history.js';
import { HistoryReader } from './history-reader.js';
import { Backtests } from './trying/backtests.js';
import { Drafts } from './trying/drafts.js';
import { ObjectTrials } from './trying/object-trials.js';
import { TrialWaits } from './trying/trial-waits.js';
import { TryThreads } from './trying/try-threads.js';

const SHARED = [
  BotSelves,
  RulesBehind,
  Activity,
  BotLoad,
  CoverageCounter,
  RuleCounter,
  Explainer,
  Drafts,
  Backtests,
  ObjectTrials,
];

/** What happened and why: explain, and rules compared with stored history. Global, since the rules ask for that comparison. */
@Global()
@Module({
  imports: [RulesModule, PipelineModule],
  providers: [
    ...SHARED,
    { provide: RuleHistory, useClass: StoredRuleHistory },
    { provide: PureRuleEngine, inject: [CelEngine], useFactory: (engine: CelEngine) => new PureRuleEngine(engine) },
    OwnActs,
    PastRules,
    StoredRevisions,
    HistoryReader,
    TrialWaits,
    TryThreads,
  ],
  exports: [RuleHistory, ...SHARED],
})
export class InsightModule extends Draining {
  constructor(
    private readonly drafts: Drafts,
    private readonly backtests: Backtests,
  ) {
    super();
  }

  protected drain(): Promise<unknown> {
    return Promise.all([this.drafts.stop(), this.backtests.stop()]);
  }
}
