import { Global, Module } from '@nestjs/common';
import { actionCatalogue, actions } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { AppConfig } from '../config/app-config.js';

import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { part, stopping } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import { openReads } from '../pipeline/decide/answer-lookups.js';
import { GapStore } from '../pipeline/gap-store.port.js';
import { WaitingStore } from '../pipeline/waiting-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { Accounts } from '../pipeline/rule-engine.port.js';
import { PureRuleEngine } from '../policies/pure-rule-engine.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { loadRules } from '../rules/language/load/load-rules.js';
import { RevisionKeeper } from '../rules/revisions/revision-keeper.js';
import { RevisionStore } from '../rules/revisions/revision-store.port.js';
import { orgOf } from '../rules/revisions/shadow-org.js';
import { RulesModule } from '../rules/rules.module.js';
import { RuleHistory } from '../rules/sources/rule-history.port.js';
import { Activity } from './activity.js';
import { ActivityStore } from './activity-store.port.js';
import { BOT_SELF, botSelf } from './bot-self.js';
import { Explainer } from './explainer.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';
import { ruleBehind } from '../pipeline/decide/rule-behind.js';
import { RULE_BEHIND, withRules, type RuleBehind } from './rule-behind.js';
import { BotLoad } from './bot-load.js';
import { CoverageCounter } from './coverage.js';
import { RuleCounter } from './rule-counts.js';
import { HistoryStore } from './history-store.port.js';
import { tellHistory } from './tell-history.js';
import { makeTrial } from './trial.js';
import { Backtests } from './trying/backtests.js';
import { Drafts } from './trying/drafts.js';
import { makeTryThread } from './trying/try-thread.js';
import type { BacktestReport } from './backtest/backtest-report.js';

/** A change of rules is compared with so much of the newest history. */
const HISTORY_DAYS = 7;
const HISTORY_EVENTS = 2000;
const PAGE = 100;

/** Without a draft to try for so long, a thread is ended. */
const REST_MS = 30_000;

const PARTS = [
  part(
    RuleHistory,
    {
      config: AppConfig,
      revisions: RevisionStore,
      history: HistoryStore,
      ruleBehind: RULE_BEHIND,
      accounts: Accounts,
      clock: Clock,
    },
    ruleHistory,
  ),
  part(BOT_SELF, { config: AppConfig, accounts: Accounts }, ({ config, accounts }) => botSelf(config, accounts)),
  part(
    RULE_BEHIND,
    { recovery: RecoveryStore },
    ({ recovery }) =>
      (event) =>
        ruleBehind(recovery, actions, event),
  ),
  part(
    Activity,
    { store: ActivityStore, inbox: InboxStore, journal: JournalStore, keeper: RevisionKeeper, clock: Clock },
    (deps) => new Activity(deps),
  ),
  part(BotLoad, { store: RecoveryStore, clock: Clock }, ({ store, clock }) => new BotLoad(store, clock)),
  part(CoverageCounter, { store: GapStore, clock: Clock }, ({ store, clock }) => new CoverageCounter(store, clock)),
  part(RuleCounter, { store: ActivityStore, clock: Clock }, ({ store, clock }) => new RuleCounter(store, clock)),
  part(
    Drafts,
    { config: AppConfig, revisions: RevisionStore },
    ({ config, revisions }) => new Drafts({ config, revisions, thread: makeTryThread(REST_MS) }),
  ),
  // In threads of their own: whoever checks a draft does not wait for somebody's back-test.
  part(
    Backtests,
    {
      config: AppConfig,
      history: HistoryStore,
      load: BotLoad,
      self: BOT_SELF,
      ruleBehind: RULE_BEHIND,
      encryptor: Encryptor,
      clock: Clock,
      logger: Logger,
    },
    ({ history, load, clock, logger, ...telling }) =>
      new Backtests({
        makeThread: () => makeTryThread(REST_MS),
        history: async (query, isOpen) => tellHistory(telling, query.org, await history.page(query), isOpen),
        isBusy: () => load.isBusy(),
        clock,
        logger,
      }),
  ),
  stopping({ drafts: Drafts, backtests: Backtests }, ({ drafts, backtests }) =>
    Promise.all([drafts.stop(), backtests.stop()]),
  ),
  // What `forgehand explain` asks: stores alone, so that it answers without a forge.
  part(
    Explainer,
    {
      engine: CelEngine,
      config: AppConfig,
      journal: JournalStore,
      inbox: InboxStore,
      store: RevisionStore,
      keeper: RevisionKeeper,
      self: BOT_SELF,
      ruleBehind: RULE_BEHIND,
      encryptor: Encryptor,
      clock: Clock,
      waiting: WaitingStore,
    },
    ({
      engine,
      config: { orgs },
      journal,
      inbox,
      store,
      keeper,
      self,
      ruleBehind: behind,
      encryptor,
      clock,
      waiting,
    }) => {
      const catalogues = { actions: actionCatalogue(), lookups: lookupCatalogue() };
      // The rules of then can be read even if a power was taken back since.
      const powers = new Set([...catalogues.actions.values()].flatMap(({ power }) => power ?? []));
      const secretsOf = new Map(orgs.map(({ name, secrets }) => [name, new Set(Object.keys(secrets))]));
      return new Explainer({
        journal,
        open: (run) => openReads(run, encryptor),
        inbox,
        store,
        load: (kept, files) => {
          const org = orgOf(kept);
          return loadRules(files, {
            org,
            ...catalogues,
            powers,
            secrets: secretsOf.get(org) ?? new Set(),
            engine,
            wasActive: true,
          });
        },
        running: (org) => keeper.active(org),
        engine,
        rules: new PureRuleEngine(engine),
        self,
        ruleBehind: behind,
        clock,
        waiting,
      });
    },
  ),
];

/** What happened and why: explain, and rules compared with stored history. Global, since the rules ask for that comparison. */
@Global()
@Module({
  imports: [RulesModule, PipelineModule],
  providers: PARTS,
  exports: [
    RuleHistory,
    BOT_SELF,
    RULE_BEHIND,
    Activity,
    BotLoad,
    CoverageCounter,
    RuleCounter,
    Explainer,
    Drafts,
    Backtests,
  ],
})
export class InsightModule {}

interface HistoryNeeds {
  readonly config: AppConfig;
  readonly revisions: RevisionStore;
  readonly history: HistoryStore;
  readonly ruleBehind: RuleBehind;
  readonly accounts: Accounts;
  readonly clock: Clock;
}

function ruleHistory({ config, revisions, history, ruleBehind: behind, accounts, clock }: HistoryNeeds): RuleHistory {
  const orgs = new Map(config.orgs.map((org) => [org.name, org]));
  return {
    onHistory: async (name, proposed) => {
      const [org, stored] = [orgs.get(name), proposed ? { files: proposed } : await revisions.active(name)];
      const trial = makeTrial();
      const loaded =
        org && stored && trial.load(name, stored.files, new Set(org.powers), new Set(Object.keys(org.secrets)), true);
      if (!org || !loaded?.ok) return null;
      const until = clock.now();
      const since = new Date(until.getTime() - HISTORY_DAYS * 86_400_000);
      const backtest = trial.backtest(loaded.revision);
      const bot = accounts.self(org.forge, name);
      let seen = 0;
      for (let after: string | null = null; seen < HISTORY_EVENTS;) {
        const page = await history.page({ org: name, since, until, limit: PAGE, after });
        const events = await withRules(page.events, behind);
        // Everybody reads the sentence who may read the repository of the rules: what is sealed stays so.
        backtest.add({ events, runs: page.runs }, bot);
        seen += page.events.length;
        if (page.next === null) break;
        after = page.next;
      }
      return historySentence(backtest.report({ org: name, since, until, notes: [] }));
    },
  };
}

/** What a change of rules would have changed, in one sentence. */
function historySentence({ events, rules }: Pick<BacktestReport, 'events' | 'rules'>): string {
  const sum = (pick: (rule: BacktestReport['rules'][number]) => number): number =>
    rules.reduce((total, rule) => total + pick(rule), 0);
  const parts = [
    [sum(({ differences }) => differences.firesNow.count), 'more'],
    [sum(({ differences }) => differences.firesNoMore.count), 'fewer'],
    [sum(({ differences }) => differences.otherEffects.count), 'with other effects'],
    [sum(({ differences }) => differences.failsNow.count), 'failing'],
    [sum(({ differences }) => differences.unknown.count), 'not known'],
  ] as const;
  const changed = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return `on the last ${events} events: ${changed.length === 0 ? 'nothing would have changed' : `runs ${changed.join(', ')}`}`;
}
