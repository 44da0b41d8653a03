import { Injectable } from '@nestjs/common';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { AppConfig } from '../config/app-config.js';
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
  private readonly secretsOf: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(
    { orgs }: AppConfig,
    private readonly engine: CelEngine,
  ) {
    this.secretsOf = new Map(orgs.map(({ name, secrets }) => [name, new Set(Object.keys(secrets))]));
  }

  load(key: string, files: readonly RuleFile[]): LoadResult {
    const org = orgOf(key);
    return loadRules(files, {
      org,
      ...this.catalogues,
      powers: this.powers,
      secrets: this.secretsOf.get(org) ?? new Set(),
      engine: this.engine,
      wasActive: true,
    });
  }
}
