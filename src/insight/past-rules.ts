import { Injectable } from '@nestjs/common';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { AppConfig, type OrgConfig } from '../config/app-config.js';
import { orgsByKey } from '../config/live-config.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { loadRules } from '../rules/language/load/load-rules.js';
import type { LoadResult, RuleFile } from '../rules/language/revision.js';
import { orgOf } from '../rules/revisions/shadow-org.js';

/** Compiles rule files that were active once. */
@Injectable()
export class PastRules {
  private readonly catalogues = { actions: actionCatalogue(), lookups: lookupCatalogue() };
  /** The rules of then can be read even if a power was taken back since. */
  private readonly powers = new Set([...this.catalogues.actions.values()].flatMap(({ power }) => power ?? []));
  private readonly orgs: () => ReadonlyMap<string, OrgConfig>;

  constructor(
    config: AppConfig,
    private readonly engine: CelEngine,
  ) {
    this.orgs = orgsByKey(config);
  }

  load(key: string, files: readonly RuleFile[]): LoadResult {
    const org = orgOf(key);
    return loadRules(files, {
      org: this.orgs().get(org)?.name ?? org,
      ...this.catalogues,
      powers: this.powers,
      secrets: new Set(Object.keys(this.orgs().get(org)?.secrets ?? {})),
      engine: this.engine,
      wasActive: true,
    });
  }
}
