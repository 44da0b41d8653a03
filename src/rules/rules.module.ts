import { Module, type OnModuleInit } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Alerts } from '../core/alerts.js';
import { callingAs } from '../core/caller.js';
import { Clock } from '../core/clock.js';
import { isJsonObject } from '../core/json.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { Logger } from '../core/logger.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { approversOf } from '../core/operators.js';
import { part, stopping } from '../core/part.js';
import { TwoPeople } from '../core/two-people.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeModule } from '../forge/forge.module.js';
import { ServerAccessReader } from '../forge/server-access.js';
import { LOOKUP_CATALOGUE } from './catalogue.port.js';
import { CapabilityCheck } from './requirements/capability-check.js';
import { ActiveRevisions } from './revisions/active-revisions.port.js';
import { Proposals } from './revisions/proposals.js';
import { RevisionKeeper, type RuleSource } from './revisions/revision-keeper.js';
import { RevisionStore } from './revisions/revision-store.port.js';
import { RuleLoader } from './revisions/rule-loader.port.js';
import { shadowOrg } from './revisions/shadow-org.js';
import { FolderSource } from './sources/folder-source.js';
import { ForgeRuleFiles } from './sources/forge-rule-files.js';
import { RepositorySource } from './sources/repository-source.js';
import { RuleHistory } from './sources/rule-history.port.js';
import { authorsOf } from './sources/rule-repository.port.js';
import { RuleVerdicts } from './sources/rule-verdicts.js';

const PARTS = [
  part(
    RuleVerdicts,
    { forges: ConnectedForges, known: KnownFacts, history: RuleHistory, logger: Logger },
    ({ forges, known, history, logger }) =>
      new RuleVerdicts({ known, forges, onHistory: (org) => history.onHistory(org), logger }),
  ),
  part(
    RevisionKeeper,
    {
      config: AppConfig,
      forges: ConnectedForges,
      verdicts: RuleVerdicts,
      loader: RuleLoader,
      store: RevisionStore,
      known: KnownFacts,
      operators: OperatorStore,
      clock: Clock,
      logger: Logger,
      alerts: Alerts,
    },
    ({ config: { orgs }, forges, verdicts, loader, store, known, operators, clock, logger, alerts }) => {
      const keeper = new RevisionKeeper({
        orgs: orgs.flatMap((org) => [
          { name: org.name, source: sourceOf(org, known, forges, verdicts) },
          ...(org.rules.shadow
            ? [{ name: shadowOrg(org.name), source: new FolderSource(org.rules.shadow.path, org.rules.extendsFrom) }]
            : []),
        ]),
        outside: async () => String(approversOf(await operators.list(), clock.now())),
        load: (kept, files, isKnown) => loader.load(kept, files, isKnown),
        store,
        clock,
        logger,
        alerts,
      });
      forges.onConnected(() => orgs.forEach(({ name }) => keeper.nudge(name, null)));
      return keeper;
    },
  ),
  part(Proposals, { keeper: RevisionKeeper, history: RuleHistory }, (deps) => new Proposals(deps)),
  // Until a forge was reached we do not know who we are there, and could answer ourselves: its events wait.
  part(
    ActiveRevisions,
    { config: AppConfig, keeper: RevisionKeeper, forges: ConnectedForges },
    ({ config: { orgs }, keeper, forges }) => {
      const forgeOf = new Map(orgs.map((org) => [org.name, org.forge]));
      return {
        active: async (org) => (forges.get(forgeOf.get(org) ?? '', org)?.capabilities ? keeper.active(org) : null),
        commit: (org) => keeper.commit(org),
        shadow: (org) => keeper.active(shadowOrg(org)),
      };
    },
  ),
  part(
    CapabilityCheck,
    {
      config: AppConfig,
      keeper: RevisionKeeper,
      forges: ConnectedForges,
      access: ServerAccessReader,
      lookups: LOOKUP_CATALOGUE,
      alerts: Alerts,
      clock: Clock,
      logger: Logger,
    },
    ({ config, keeper, forges, access, lookups, alerts, clock, logger }) => {
      const orgs = config.orgs.map(({ forge, name }) => ({ forge, org: name }));
      const check = new CapabilityCheck({ orgs, revisions: keeper, forges, lookups, access, alerts, clock, logger });
      const look = (): void => void callingAs({ lane: 'housekeeping', org: null }, () => check.check());
      keeper.onActivated(look);
      forges.onConnected(look);
      return check;
    },
  ),
  // Who may approve what takes two people.
  part(
    TwoPeople,
    { operators: OperatorStore, revisions: RevisionStore },
    ({ operators, revisions }) =>
      new TwoPeople({
        operators: () => operators.list(),
        authorsOf: async (revisionId) => {
          const origin = (await revisions.byId(revisionId))?.origin;
          return origin ? authorsOf(origin) : [];
        },
      }),
  ),
  stopping(
    { check: CapabilityCheck, keeper: RevisionKeeper, verdicts: RuleVerdicts },
    ({ check, keeper, verdicts }) => {
      check.stop();
      return Promise.all([keeper.stop(), verdicts.stop()]);
    },
  ),
];

/** The rules of each organization: where they come from, which revision runs, and what it needs of the forge. */
@Module({
  imports: [ForgeModule],
  providers: PARTS,
  exports: [Proposals, RuleVerdicts, RevisionKeeper, ActiveRevisions, CapabilityCheck, TwoPeople],
})
export class RulesModule implements OnModuleInit {
  constructor(
    private readonly keeper: RevisionKeeper,
    private readonly self: ThisProcess,
  ) {}

  /** After the forges, which this module imports: rules may lie in a repository. */
  async onModuleInit(): Promise<void> {
    if (this.self.role !== 'web') await this.keeper.start();
  }
}

/** Where an organization's rule files come from: a folder beside the bot, or a repository of the organization. */
function sourceOf(
  { name, forge, rules }: OrgConfig,
  known: KnownFacts,
  forges: ConnectedForges,
  verdicts: RuleVerdicts,
): RuleSource {
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
        read: async () => readPin((await known.read(forge, name, 'rules.pin'))?.fact),
        write: (pin) => known.write(forge, name, 'rules.pin', pin),
      },
      concluded: (verdict) => void verdicts.concluded(forge, name, verdict),
    },
  );
}

function readPin(fact: unknown): { repository: string; id: string } | null {
  if (!isJsonObject(fact as never)) return null;
  const { repository, id } = fact as { repository?: unknown; id?: unknown };
  return typeof repository === 'string' && typeof id === 'string' ? { repository, id } : null;
}
