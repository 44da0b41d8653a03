import { Option } from 'commander';
import type { Command } from 'commander';
import pc from 'picocolors';
import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import type { OrgConfig } from '../config/app-config.js';
import { readConfig } from '../config/read-config.js';
import { FolderSource } from '../config/rule-sources/folder-source.js';
import { UserError } from '../core/errors.js';
import { formatProblem } from '../core/problem.js';
import type { Problem } from '../core/problem.js';
import { isOperationName, type OperationName } from '../forge/operations.js';
import { neededScopes, type Scope } from '../forge/scopes.js';
import { CelEngine } from '../rules/expressions/cel-engine.js';
import { loadRules } from '../rules/load/load-rules.js';
import type { Revision } from '../rules/revision.js';
import { storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';

interface CheckOptions {
  config: string;
  json: boolean;
  org?: string;
  rules?: string;
}

interface Checked {
  org: string;
  folder: string;
  rules: number;
  policies: number;
  /** What the bot's token must be allowed; only known when there are no problems. */
  scopes: readonly Scope[];
  problems: readonly Problem[];
}

export function checkCommand(exit: SetExit): Command {
  return storeCommand('check', 'what is wrong in the config and in the rule files, all at once; talks to nobody')
    .option('--org <name>', 'only this organization')
    .addOption(new Option('--rules <dir>', 'check this folder in place of the organization’s own (with --org)'))
    .action(async (options: CheckOptions) => {
      const config = readConfig(options.config);
      const orgs = config.orgs.filter((org) => !options.org || org.name.toLowerCase() === options.org.toLowerCase());
      if (orgs.length === 0) throw new UserError('NO_SUCH_ORG', `the config has no organization ${options.org}`);
      if (options.rules && orgs.length > 1) throw new UserError('WHICH_ORG', 'say with --org whose rules the folder holds');
      const checked = await Promise.all(orgs.map((org) => checkOrg(org, options.rules ?? org.rules.path)));
      const isGood = checked.every(({ problems }) => problems.length === 0);
      print(options.json, { ok: isGood, orgs: checked }, () => checked.map(describe).join('\n'));
      if (!isGood) exit(1);
    });
}

async function checkOrg(org: OrgConfig, folder: string): Promise<Checked> {
  const files = await new FolderSource(folder).read();
  const result = loadRules(files, {
    org: org.name,
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set(org.powers),
    secrets: new Set(Object.keys(org.secrets)),
    engine: new CelEngine(),
    checkTypes: true,
  });
  const counts = result.ok
    ? { rules: result.revision.rules.length, policies: result.revision.policies.length, scopes: scopesOf(result.revision) }
    : { rules: 0, policies: 0, scopes: [] };
  return { org: org.name, folder, ...counts, problems: result.ok ? [] : result.problems };
}

/** What polling and knowing oneself take, whatever the rules. */
const ALWAYS = ['getSelf', 'listOrgFeed', 'listOrgRepos', 'listActionTasks', 'listJobsOfAttempt', 'getRepoById'] as const satisfies readonly OperationName[];

function scopesOf({ rules, policies }: Revision): Scope[] {
  return neededScopes([...ALWAYS, ...[...rules, ...policies].flatMap(({ operations }) => operations.filter(isOperationName))]);
}

function describe({ org, folder, rules, policies, scopes, problems }: Checked): string {
  if (problems.length === 0) {
    const counts = `${rules} rule${rules === 1 ? '' : 's'} and ${policies} polic${policies === 1 ? 'y' : 'ies'} in ${folder}`;
    return `${pc.green('ok')} ${org}: ${counts}\n   the token needs ${scopes.join(', ')}`;
  }
  return [
    ...problems.map((problem) => `${pc.red('error')} ${formatProblem(problem)}`),
    `${org}: ${problems.length} problem${problems.length === 1 ? '' : 's'} in ${folder}`,
  ].join('\n');
}
