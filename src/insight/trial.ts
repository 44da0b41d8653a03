import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { Backtest } from './backtest/backtest.js';
import type { PureRules } from './decide-again.js';
import { runFixtures } from './fixtures/run-fixtures.js';
import type { FixturesReport } from './fixtures/run-fixtures.js';
import { PureRuleEngine } from '../policies/pure-rule-engine.js';
import type { LoadResult, Revision, RuleFile } from '../rules/language/revision.js';
import type { ActionFacts, LookupFacts } from '../rules/language/catalogue.js';
import type { ExpressionEngine } from '../rules/language/expression-engine.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { loadRules } from '../rules/language/load/load-rules.js';
import { makePureRules, makeRuleThread } from '../policies/thread/make-rules.js';

/** What trying rules takes: the deciding side alone, without a store, a forge or a clock. */
export interface Trial {
  readonly actions: ReadonlyMap<string, ActionFacts>;
  readonly lookups: ReadonlyMap<string, LookupFacts>;
  readonly rules: PureRules;
  readonly engine: ExpressionEngine;
  /** @param wasActive the files were active before */
  load(
    org: string,
    files: readonly RuleFile[],
    powers: ReadonlySet<string>,
    secrets: ReadonlySet<string>,
    wasActive?: boolean,
  ): LoadResult;
  backtest(revision: Revision): Backtest;
  fixtures(ruleFiles: readonly RuleFile[], testFiles: readonly RuleFile[]): FixturesReport;
}

export function makeTrial(): Trial {
  const engine = new CelEngine();
  // What the bot would refuse to run is not tried either.
  const checked = { engine, checkTypes: true };
  const actions = actionCatalogue();
  const lookups = lookupCatalogue();
  const powers = new Set([...actions.values()].flatMap(({ power }) => power ?? []));
  const rules = makePureRules(new PureRuleEngine(engine), makeRuleThread());
  return {
    actions,
    lookups,
    rules,
    engine,
    load: (org, files, powers, secrets, wasActive = false) =>
      loadRules(files, { org, actions, lookups, powers, secrets, wasActive, ...checked }),
    backtest: (revision) => new Backtest({ revision, rules, actions, lookups }),
    fixtures: (ruleFiles, testFiles) =>
      runFixtures(ruleFiles, testFiles, {
        rules,
        load: (org, files, secrets) => loadRules(files, { org, actions, lookups, powers, secrets, ...checked }),
      }),
  };
}
