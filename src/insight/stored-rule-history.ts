import { Injectable } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../config/app-config.js';
import { orgsByKey } from '../config/live-config.js';
import { Clock } from '../core/clock.js';
import { Accounts } from '../pipeline/rule-engine.port.js';
import type { RuleFile } from '../rules/language/revision.js';
import { RevisionStore } from '../rules/revisions/revision-store.port.js';
import type { RuleHistory } from '../rules/sources/rule-history.port.js';
import type { BacktestReport } from './backtest/backtest-report.js';
import { HistoryStore } from './history-store.port.js';
import { withRules } from './rule-behind.js';
import { RulesBehind } from './rules-behind.js';
import { makeTrial } from './trial.js';

/** A change of rules is compared with so much of the newest history. */
const HISTORY_DAYS = 7;
const HISTORY_EVENTS = 2000;
const PAGE = 100;

/** Compares rules with the stored events. */
@Injectable()
export class StoredRuleHistory implements RuleHistory {
  private readonly orgs: () => ReadonlyMap<string, OrgConfig>;

  constructor(
    config: AppConfig,
    private readonly revisions: RevisionStore,
    private readonly history: HistoryStore,
    private readonly behind: RulesBehind,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {
    this.orgs = orgsByKey(config);
  }

  async onHistory(key: string, proposed?: readonly RuleFile[]): Promise<string | null> {
    const [org, stored] = [this.orgs().get(key), proposed ? { files: proposed } : await this.revisions.active(key)];
    const trial = makeTrial();
    const loaded =
      org && stored && trial.load(org.name, stored.files, new Set(org.powers), new Set(Object.keys(org.secrets)), true);
    if (!org || !loaded?.ok) return null;
    const until = this.clock.now();
    const since = new Date(until.getTime() - HISTORY_DAYS * 86_400_000);
    const backtest = trial.backtest(loaded.revision);
    const bot = this.accounts.self(org.forge, key);
    let eventCount = 0;
    for (let after: string | null = null; eventCount < HISTORY_EVENTS;) {
      const page = await this.history.page({ org: key, since, until, limit: PAGE, after });
      const events = await withRules(page.events, this.behind);
      // Everybody reads the sentence who may read the repository of the rules: what is sealed stays so.
      backtest.add({ events, runs: page.runs }, bot);
      eventCount += page.events.length;
      if (page.next === null) break;
      after = page.next;
    }
    return historySentence(backtest.report({ org: key, since, until, notes: [] }));
  }
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
