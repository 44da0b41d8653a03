import { beyondLimits } from '../rules/revisions/operator-limits.js';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import type { OrgConfig } from '../config/app-config.js';
import { FolderSource } from '../rules/sources/folder-source.js';
import type { Problem } from '../core/problem.js';
import { isOperationName, type OperationName } from '../forge/operations.js';
import { neededScopes, type Scope } from '../forge/scopes.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { loadRules } from '../rules/language/load/load-rules.js';
import type { Revision } from '../rules/language/revision.js';

export interface Checked {
  org: string;
  folder: string;
  rules: number;
  policies: number;
  /** What the bot's token must be allowed; only known when there are no problems. */
  scopes: readonly Scope[];
  problems: readonly Problem[];
}

/** Load the rule files of a folder as the bot would. */
export async function checkOrg(org: OrgConfig, folder: string): Promise<Checked> {
  const files = await new FolderSource(folder, org.rules.extendsFrom).read();
  const loaded = loadRules(files, {
    org: org.name,
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set(org.powers),
    secrets: new Set(Object.keys(org.secrets)),
    engine: new CelEngine(),
    checkTypes: true,
  });
  const beyond = loaded.ok ? beyondLimits(loaded.revision, org.limits) : [];
  const result = beyond.length > 0 ? { ok: false as const, problems: beyond } : loaded;
  const counts = result.ok
    ? {
        rules: result.revision.rules.length,
        policies: result.revision.policies.length,
        scopes: scopesOf(result.revision),
      }
    : { rules: 0, policies: 0, scopes: [] };
  return { org: org.name, folder, ...counts, problems: result.ok ? [] : result.problems };
}

/** What polling and knowing oneself take, whatever the rules. */
const ALWAYS = [
  'getSelf',
  'listOrgFeed',
  'listOrgRepos',
  'listActionTasks',
  'listJobsOfAttempt',
  'getRepoById',
] as const satisfies readonly OperationName[];

function scopesOf({ rules, policies }: Revision): Scope[] {
  return neededScopes([
    ...ALWAYS,
    ...[...rules, ...policies].flatMap(({ operations }) => operations.filter(isOperationName)),
  ]);
}
