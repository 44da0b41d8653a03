import type { OrgConfig } from '../config/app-config.js';
import { FolderSource } from '../rules/sources/folder-source.js';
import { RepositorySource } from '../rules/sources/repository-source.js';
import type { RuleSource } from '../rules/revisions/revision-keeper.js';
import type { ForgeEvent } from '../core/event.js';
import { isJsonObject } from '../core/json.js';
import type { Stores } from '../store/open-stores.js';
import type { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeRuleFiles } from '../rules/sources/forge-rule-files.js';
import type { BacktestReport } from '../insight/backtest/backtest-report.js';
import { openReads } from '../pipeline/decide/sealed-answers.js';
import type { Sealer } from '../core/sealer.js';
import { RuleVerdicts } from '../rules/sources/rule-verdicts.js';
import { botAccounts, type Ground } from './ground.js';
import { makeTrial } from './wire-trial.js';

/** A change of rules is held against so much of the newest history. */
const HISTORY_DAYS = 7;
const HISTORY_EVENTS = 2000;
const PAGE = 100;

/** Where an organization's rule files come from: a folder beside the bot, or a repository of the organization. */
export function makeRuleSource({ name, forge, rules }: OrgConfig, stores: Stores, forges: ConnectedForges, verdicts: RuleVerdicts): RuleSource {
  const { repository, path, extendsFrom } = rules;
  if (!repository) return new FolderSource(path ?? '', extendsFrom);
  return new RepositorySource(
    {
      repository: repository.name,
      branch: repository.branch,
      id: repository.id,
      everyS: repository.everyS,
      extendsFrom,
      acceptsOpenBranch: repository.acceptsOpenBranch,
      require: repository.require,
    },
    {
      repository: () => {
        const entry = forges.get(forge, name);
        return entry?.capabilities ? new ForgeRuleFiles(entry, repository.name) : null;
      },
      pin: {
        read: async () => readPin((await stores.known.read(forge, name, 'rules.pin'))?.fact),
        write: (pin) => stores.known.write(forge, name, 'rules.pin', pin),
      },
      concluded: (verdict) => void verdicts.concluded(forge, name, verdict),
    },
  );
}

/** A push, and whatever happens to a repository as a whole. */
export function mayChangeRules({ kind }: Pick<ForgeEvent, 'kind'>): boolean {
  return kind === 'push' || kind.startsWith('repository.');
}

export function makeRuleVerdicts({ config, stores, clock, logger }: Ground, forges: ConnectedForges, sealer: Sealer): RuleVerdicts {
  const orgs = new Map(config.orgs.map((org) => [org.name, org]));
  const onHistory = async (name: string): Promise<string | null> => {
    const [org, stored] = [orgs.get(name), await stores.revisions.active(name)];
    const trial = makeTrial();
    const loaded = org && stored && trial.load(name, stored.files, new Set(org.powers), new Set(Object.keys(org.secrets)));
    if (!org || !loaded?.ok) return null;
    const until = clock.now();
    const since = new Date(until.getTime() - HISTORY_DAYS * 86_400_000);
    const backtest = trial.backtest(loaded.revision);
    const bot = botAccounts(forges).self(org.forge, name);
    let seen = 0;
    for (let after: string | null = null; seen < HISTORY_EVENTS;) {
      const page = await stores.history.page({ org: name, since, until, limit: PAGE, after });
      backtest.add({ ...page, runs: page.runs.map((run) => openReads(run, sealer)) }, bot);
      seen += page.events.length;
      if (page.next === null) break;
      after = page.next;
    }
    return historySentence(backtest.report({ org: name, since, until, notes: [] }));
  };
  return new RuleVerdicts({ known: stores.known, forges, onHistory, logger });
}

/** What a change of rules would have changed, in one sentence. */
export function historySentence({ events, rules }: Pick<BacktestReport, 'events' | 'rules'>): string {
  const sum = (pick: (rule: BacktestReport['rules'][number]) => number): number => rules.reduce((total, rule) => total + pick(rule), 0);
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

function readPin(fact: unknown): { repository: string; id: string } | null {
  if (!isJsonObject(fact as never)) return null;
  const { repository, id } = fact as { repository?: unknown; id?: unknown };
  return typeof repository === 'string' && typeof id === 'string' ? { repository, id } : null;
}
