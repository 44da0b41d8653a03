import { beyondLimits } from '../rules/revisions/operator-limits.js';
import { notify } from '../actions/notify.action.js';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import { bySharing, declaredIn } from '../insight/fixtures/run-fixtures.js';
import type { OrgConfig } from '../config/app-config.js';
import { BotError, InvalidFile } from '../core/errors.js';
import { FolderSource } from '../rules/sources/folder-source.js';
import type { Extendable } from '../rules/sources/shared-files.js';
import type { Problem } from '../core/problem.js';
import { isOperationName, type OperationName } from '../forge/operations.js';
import { neededScopes, type Scope } from '../forge/scopes.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { constantIn, stepsOf } from '../rules/language/load/raised-kinds.js';
import { loadRules } from '../rules/language/load/load-rules.js';
import type { LoadEnvironment, LoadResult, Revision, RuleFile } from '../rules/language/revision.js';

export interface RulesCheck {
  org: string;
  folder: string;
  rules: number;
  policies: number;
  /** What the bot's token must be allowed; only known when there are no problems. */
  scopes: readonly Scope[];
  problems: readonly Problem[];
  /** What works and is probably not meant so. */
  warnings: readonly Problem[];
}

/** With the rules themselves, where nothing is wrong with them. */
interface CheckedRules {
  readonly checked: RulesCheck;
  readonly revision: Revision | null;
}

/** What only the operator's config can tell. */
export const NOT_CHECKED = ['powers', 'limits', 'hosts', 'secrets'] as const;

/** What came of loading the rule files of a folder as the bot would. */
export async function checkOrg(org: OrgConfig, folder: string): Promise<RulesCheck> {
  return (await loadOrg(org, folder)).checked;
}

export async function loadOrg(org: OrgConfig, folder: string): Promise<CheckedRules> {
  const files = await readFolder(folder, org.rules);
  if (!files.ok) return { checked: unread(org.label, folder, files.problems), revision: null };
  const loaded = load(files.read, {
    org: org.name,
    powers: new Set(org.powers),
    secrets: new Set(Object.keys(org.secrets)),
    mirrorHosts: org.mirrorHosts,
    notifyHosts: org.notifyHosts,
  });
  const beyond = loaded.ok ? beyondLimits(loaded.revision, org.limits) : [];
  const result: LoadResult = beyond.length > 0 ? { ...loaded, ok: false, problems: beyond } : loaded;
  const checked = checkOf(org.label, folder, result);
  if (!result.ok) return { checked, revision: null };
  const { revision } = result;
  return { checked: { ...checked, warnings: [...checked.warnings, ...mailToNobody(org, revision)] }, revision };
}

/** Mail is refused at night where the operator names no server for it. */
function mailToNobody({ mail }: OrgConfig, { rules }: Revision): Problem[] {
  if (mail) return [];
  return rules.flatMap(stepsOf).flatMap(({ action, params }): Problem[] => {
    const format = params.find(({ name }) => name === 'format');
    if (action.name !== notify.name || !format || constantIn(params, 'format') !== 'mail') return [];
    const message = 'mail has no server here: each such message will be refused';
    return [{ ...format.position, message, hint: "orgs[].mail in the operator's config", level: 'warning' }];
  });
}

/** The same without an operator's config: each file says whose rules it holds; powers, limits, hosts and secrets are taken as granted. */
export async function checkAlone(folder: string): Promise<readonly RulesCheck[]> {
  const files = await readFolder(folder);
  if (!files.ok) return [unread('', folder, files.problems)];
  const { own: ownFiles, shared } = bySharing(files.read);
  const declared = ownFiles.map((file) => ({ file, ...declaredIn(file) }));
  // A file that does not say it is told so beside the others.
  const [main = ''] = declared.flatMap(({ org }) => (org === '' ? [] : [org]));
  const orgs = new Map<string, typeof declared>();
  for (const one of declared) {
    const key = (one.org || main).toLowerCase();
    orgs.set(key, [...(orgs.get(key) ?? []), one]);
  }
  const powers = new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? []));
  return [...orgs.values()].map((own) => {
    const org = own.find((one) => one.org !== '')?.org ?? main;
    const secrets = new Set(own.flatMap((one) => one.secrets));
    const loaded = load([...own.map(({ file }) => file), ...shared], { org, powers, secrets });
    return checkOf(org, folder, loaded);
  });
}

type OrgEnvironment = Pick<LoadEnvironment, 'org' | 'powers' | 'secrets' | 'mirrorHosts' | 'notifyHosts'>;

function load(files: readonly RuleFile[], orgEnvironment: OrgEnvironment): LoadResult {
  return loadRules(files, {
    ...orgEnvironment,
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    engine: new CelEngine(),
    checkTypes: true,
  });
}

function checkOf(org: string, folder: string, result: LoadResult): RulesCheck {
  const counts = result.ok
    ? {
        rules: result.revision.rules.length,
        policies: result.revision.policies.length,
        scopes: scopesOf(result.revision),
      }
    : { rules: 0, policies: 0, scopes: [] };
  return { org, folder, ...counts, problems: result.ok ? [] : result.problems, warnings: result.warnings ?? [] };
}

function unread(org: string, folder: string, problems: readonly Problem[]): RulesCheck {
  return { org, folder, rules: 0, policies: 0, scopes: [], problems, warnings: [] };
}

/** What cannot be read at all is a problem like others: whoever asked for a format gets it in that format. */
async function readFolder(
  folder: string,
  allowed?: Extendable,
): Promise<{ ok: true; read: RuleFile[] } | { ok: false; problems: readonly Problem[] }> {
  try {
    return { ok: true, read: await new FolderSource(folder, allowed).read() };
  } catch (error) {
    if (error instanceof InvalidFile) return { ok: false, problems: error.problems };
    if (error instanceof BotError)
      return { ok: false, problems: [{ file: folder, line: 1, col: 1, message: error.message }] };
    throw error;
  }
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
