import { Option } from 'commander';
import type { Command } from 'commander';
import { UserError } from '../core/errors.js';
import { formatProblem, type Problem } from '../core/problem.js';
import type { Checked } from './check-rules.js';
import { storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { plain, print } from './print.js';
import { sarifOf } from './print-sarif.js';
import { ruleFolder } from './rule-folder.js';
import { colour } from './terminal.js';

interface CheckOptions {
  config: string;
  json: boolean;
  format: 'text' | 'json' | 'sarif';
  org?: string;
  rules?: string;
}

export function checkCommand(exit: SetExit): Command {
  return storeCommand('check', 'validate config and rule files, offline')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json', 'sarif']).default('text'))
    .option('--org <name>', 'only this organization')
    .addOption(
      new Option('--rules <dir>', 'validate this folder instead of the rules of the organization (with --org)'),
    )
    .action(async (options: CheckOptions) => {
      const [{ readConfig }, { checkOrg }] = await Promise.all([
        import('../config/read-config.js'),
        import('./check-rules.js'),
      ]);
      const config = readConfig(options.config);
      const orgs = config.orgs.filter((org) => !options.org || org.name.toLowerCase() === options.org.toLowerCase());
      if (orgs.length === 0) throw new UserError('NO_SUCH_ORG', `the config has no organization ${options.org}`);
      if (options.rules && orgs.length > 1)
        throw new UserError('WHICH_ORG', 'say with --org whose rules the folder holds');
      const checked = await Promise.all(orgs.map((org) => checkOrg(org, ruleFolder(org, options.rules))));
      const isGood = checked.every(({ problems }) => problems.length === 0);
      const isJson = options.json || options.format === 'json';
      if (options.format === 'sarif') print(true, sarifOf(checked.flatMap(({ problems }) => problems)), () => '');
      else
        print(isJson, { ok: isGood, warnings: config.warnings, orgs: checked }, () =>
          [...config.warnings.map(warn), ...checked.map(describe)].join('\n'),
        );
      if (!isGood) exit(1);
    });
}

function warn(problem: Problem): string {
  return `${colour.yellow('warning')} ${plain(formatProblem(problem))}`;
}

function describe({ org, folder, rules, policies, scopes, problems }: Checked): string {
  if (problems.length === 0) {
    const counts = `${rules} rule${rules === 1 ? '' : 's'} and ${policies} polic${policies === 1 ? 'y' : 'ies'} in ${folder}`;
    return `${colour.green('ok')} ${org}: ${counts}\n   the token needs ${scopes.join(', ')}`;
  }
  return [
    ...problems.map((problem) => `${colour.red('error')} ${plain(formatProblem(problem))}`),
    `${org}: ${problems.length} problem${problems.length === 1 ? '' : 's'} in ${folder}`,
  ].join('\n');
}
