import { Option } from 'commander';
import type { Command } from 'commander';
import { BotError, InvalidFile, UserError } from '../core/errors.js';
import { formatProblem, type Problem } from '../core/problem.js';
import type { AppConfig } from '../config/app-config.js';
import type { RulesCheck } from './check-rules.js';
import type { SetExit } from './command-options.js';
import { plain, print } from './print.js';
import { annotationsOf } from './print-annotations.js';
import { sarifOf } from './print-sarif.js';
import { orgsNamed } from './which-org.js';
import { ruleFolder } from './rule-folder.js';
import { colour, writeOut } from './terminal.js';
import { storeCommand } from './bot-command.js';
import { counted } from '../api/words.js';

interface CheckOptions {
  config: string;
  json: boolean;
  strict: boolean;
  online: boolean;
  format: Format;
  org?: string;
  rules?: string;
}

const FORMATS = ['text', 'json', 'sarif', 'github'] as const;
type Format = (typeof FORMATS)[number];

/** What the config says of itself, and what came of each organization. */
interface Report {
  readonly warnings: readonly Problem[];
  readonly orgs: readonly RulesCheck[];
  readonly notChecked: readonly string[];
  /** A read at the forge failed, so that something in `notChecked` may be wrong. */
  readonly hasFailed: boolean;
}

export function checkCommand(exit: SetExit): Command {
  return storeCommand('check', 'validate config and rule files')
    .argument('[dir]', 'validate only this folder or file of rules, without config and secrets')
    .addOption(
      new Option('--format <format>', 'output format (github: workflow commands, which CI shows beside the lines)')
        .choices(FORMATS)
        .default('text'),
    )
    .option('--strict', 'count warnings as errors', false)
    .option(
      '--online',
      'also look up at the forge the labels, repositories, users, teams, milestones and branches that the rules name',
      false,
    )
    .option('--org <name>', 'only this organization')
    .addOption(
      new Option('--rules <dir>', 'validate this folder instead of the rules of the organization (with --org)'),
    )
    .action(async (dir: string | undefined, options: CheckOptions) => {
      const format: Format = options.format === 'text' && options.json ? 'json' : options.format;
      let report: Report;
      try {
        report = dir === undefined ? await checkConfig(options) : await checkFolder(dir, options);
      } catch (error) {
        // Whoever asked for a format for machines reads nothing else.
        if (format === 'text' || !(error instanceof BotError)) throw error;
        printFailure(error, options.config, format);
        exit(error instanceof InvalidFile ? 2 : 3);
        return;
      }
      const strict = options.strict ? asErrors(report) : report;
      const isGood = strict.orgs.every(({ problems }) => problems.length === 0) && !strict.hasFailed;
      printReport(strict, format, isGood);
      if (!isGood) exit(1);
    });
}

async function checkConfig(options: CheckOptions): Promise<Report> {
  const [{ readConfig }, { loadOrg }] = await Promise.all([
    import('../config/read-config.js'),
    import('./check-rules.js'),
  ]);
  const config = readConfig(options.config);
  const orgs = orgsNamed(config.orgs, options.org || undefined);
  if (orgs.length === 0) throw new UserError('NO_SUCH_ORG', `the config has no organization ${options.org}`);
  if (options.rules && orgs.length > 1)
    throw new UserError(
      'WHICH_ORG',
      'several organizations are in the config: pass --org to say whose rules the folder holds',
    );
  const results = await Promise.all(
    orgs.map(async (org) => {
      const { checked, revision } = await loadOrg(org, ruleFolder(org, options.rules));
      if (!options.online || !revision) return { checked, notChecked: [], hasFailed: false };
      const { checkNames } = await import('./check-online.js');
      const { warnings, notChecked, hasFailed } = await checkNames(config, org, revision);
      return { checked: { ...checked, warnings: [...checked.warnings, ...warnings] }, notChecked, hasFailed };
    }),
  );
  return {
    warnings: [...config.warnings, ...(await forgottenTexts(config))],
    orgs: results.map(({ checked }) => checked),
    notChecked: results.flatMap(({ notChecked }) => notChecked),
    hasFailed: results.some(({ hasFailed }) => hasFailed),
  };
}

/** A text that is forgotten counts as new when it comes again, unless it tells how old its act is. */
async function forgottenTexts({ file, retention: { repeatDays } }: AppConfig): Promise<Problem[]> {
  if (repeatDays === null) return [];
  const { ACT_TIMES } = await import('../events/act-time.js');
  const kinds = Object.entries(ACT_TIMES).flatMap(([kind, place]) => (place === null ? [kind] : []));
  const message = `after retention.repeat_days (${repeatDays}) whoever holds a signed delivery of one of these kinds can repeat its act, since its text tells no time of it: ${kinds.join(', ')}`;
  return [{ file, line: 1, col: 1, message, hint: 'leave out repeat_days, unless no rule acts upon them' }];
}

async function checkFolder(dir: string, { org, rules, online }: CheckOptions): Promise<Report> {
  if (online)
    throw new UserError('CHECK_WHAT', '--online takes the forge and the token from the config: leave out DIR');
  if (org !== undefined || rules !== undefined)
    throw new UserError('CHECK_WHAT', 'check DIR reads no config: leave out --org and --rules, or DIR');
  const { checkAlone, NOT_CHECKED } = await import('./check-rules.js');
  return { warnings: [], orgs: await checkAlone(dir), notChecked: NOT_CHECKED, hasFailed: false };
}

function asErrors(report: Report): Report {
  const orgs = report.orgs.map((one) => ({
    ...one,
    problems: [...one.problems, ...one.warnings.map(({ level: _, ...problem }) => problem)],
    warnings: [],
  }));
  return { ...report, orgs };
}

function printReport({ warnings, orgs, notChecked }: Report, format: Format, isGood: boolean): void {
  const ofRules = orgs.flatMap((one) => [...one.problems, ...one.warnings]);
  if (format === 'sarif') return print(true, sarifOf(ofRules), () => '');
  if (format === 'github')
    return writeOut(annotationsOf([...warnings.map((one): Problem => ({ ...one, level: 'warning' })), ...ofRules]));
  const value = { ok: isGood, warnings, orgs, ...(notChecked.length > 0 ? { not_checked: notChecked } : {}) };
  print(format === 'json', value, () =>
    [
      ...warnings.map(warn),
      ...orgs.map(describe),
      ...(notChecked.length > 0 ? [`not checked: ${notChecked.join(', ')}`] : []),
    ].join('\n'),
  );
}

function printFailure(error: BotError, file: string, format: Format): void {
  const problems = error instanceof InvalidFile ? error.problems : [{ file, line: 1, col: 1, message: error.message }];
  if (format === 'github') return writeOut(annotationsOf(problems));
  print(true, format === 'sarif' ? sarifOf(problems) : { ok: false, warnings: [], orgs: [], problems }, () => '');
}

function warn(problem: Problem): string {
  return `${colour.yellow('warning')} ${plain(formatProblem(problem))}`;
}

function describe({ org, folder, rules, policies, scopes, problems, warnings }: RulesCheck): string {
  if (problems.length === 0) {
    const counts = `${counted(rules, 'rule')} and ${counted(policies, 'policy', 'policies')} in ${folder}`;
    const warningText = warnings.length > 0 ? `, ${counted(warnings.length, 'warning')}` : '';
    return [
      ...warnings.map(warn),
      `${colour.green('ok')} ${org}: ${counts}${warningText}\n   the token needs ${scopes.join(', ')}`,
    ].join('\n');
  }
  return [
    ...problems.map((problem) => `${colour.red('error')} ${plain(formatProblem(problem))}`),
    ...warnings.map(warn),
    `${org === '' ? '' : `${org}: `}${counted(problems.length, 'problem')}${warnings.length > 0 ? ` and ${counted(warnings.length, 'warning')}` : ''} in ${folder}`,
  ].join('\n');
}
