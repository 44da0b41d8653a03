import { Injectable } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../../config/app-config.js';
import { ofOrgs } from '../../config/live-config.js';
import { isJsonObject } from '../../core/json.js';
import { KnownFacts } from '../../core/known-facts.port.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import type { RuleFile } from '../language/revision.js';
import { shadowOrg } from '../revisions/shadow-org.js';
import { FolderSource } from './folder-source.js';
import { ForgeRuleFiles } from './forge-rule-files.js';
import { RepositorySource } from './repository-source.js';
import type { RuleOrigin } from './rule-repository.port.js';
import { RuleVerdicts } from './rule-verdicts.js';

/** Where an organization's rule files come from. */
export interface RuleSource extends Pick<FolderSource, 'read' | 'watch' | 'close'> {
  /** Asked right before what was read becomes active. @throws BotError when it must not */
  confirm?(): Promise<void>;
  /** The commit that holds the state of the files with this hash; null when none is known. */
  commitOf?(hash: string): Promise<string | null>;
  /** Where the state of the files with this hash came from; null when it is not known. */
  originOf?(hash: string): RuleOrigin | null;
  /** The files as a commit has them that nobody merged; null where the repository is not theirs. */
  proposed?(repositoryId: string, commit: string): Promise<RuleFile[] | null>;
  /** Whether they lie in this repository. */
  liesIn?(repositoryId: string): Promise<boolean>;
  /** Something happened that may have changed the files. */
  nudge?(repositoryId: string | null): void;
  /** What came of the last read: no problems = it is active. */
  concluded?(outcome: {
    readonly problems: readonly string[];
    readonly isTransient: boolean;
    readonly code?: string | null;
  }): void;
}

export interface KeptOrg {
  readonly name: string;
  readonly source: RuleSource;
}

/** Of each organization, and of the shadow that some have beside them: a folder beside the bot, or a repository of the organization. */
@Injectable()
export class RuleSources {
  private readonly current: () => readonly KeptOrg[];
  private made: ReadonlyMap<OrgConfig, readonly KeptOrg[]> = new Map();

  constructor(
    config: AppConfig,
    private readonly facts: KnownFacts,
    private readonly forges: ConnectedForges,
    private readonly verdicts: RuleVerdicts,
  ) {
    this.current = ofOrgs(config, (orgs) => {
      this.made = new Map(orgs.map((org) => [org, this.made.get(org) ?? this.of(org)]));
      return [...this.made.values()].flat();
    });
  }

  /** Organizations that a reload left as they were keep what stands here for them. */
  get all(): readonly KeptOrg[] {
    return this.current();
  }

  private of(org: OrgConfig): readonly KeptOrg[] {
    const { shadow } = org.rules;
    const live = { name: org.key, source: this.sourceOf(org) };
    return shadow ? [live, { name: shadowOrg(org.key), source: new FolderSource(shadow.path, org.rules) }] : [live];
  }

  private sourceOf({ name, forge, rules }: OrgConfig): RuleSource {
    const { repository, path, extendsFrom, builtInSets } = rules;
    if (!repository) return new FolderSource(path ?? '', rules);
    const { name: fullName, ...place } = repository;
    return new RepositorySource(
      { ...place, repository: fullName, extendsFrom, builtInSets },
      {
        repository: () => {
          const entry = this.forges.get(forge, name);
          return entry?.capabilities ? new ForgeRuleFiles(entry, fullName) : null;
        },
        pin: {
          read: async () => readPin((await this.facts.read(forge, name, 'rules.pin'))?.fact),
          write: (pin) => this.facts.write(forge, name, 'rules.pin', pin),
        },
        concluded: (verdict) => void this.verdicts.concluded(forge, name, verdict),
      },
    );
  }
}

function readPin(fact: unknown): { repository: string; id: string } | null {
  if (!isJsonObject(fact as never)) return null;
  const { repository, id } = fact as { repository?: unknown; id?: unknown };
  return typeof repository === 'string' && typeof id === 'string' ? { repository, id } : null;
}
