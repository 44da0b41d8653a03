import type { Command } from 'commander';
import type { RuleReport, RuleSummary } from '../api/operations/answers.js';
import { shortReason } from '../core/run-reasons.js';
import { storeCommand } from './command-options.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';
import { colour } from './terminal.js';
import { whichOrg } from './which-org.js';

interface RulesOptions {
  readonly config: string;
  readonly json: boolean;
  readonly org?: string;
}

export function rulesCommand(): Command {
  return storeCommand(
    'rules',
    'list rules and policies: mode, counts of 30 days, what holds them back; with an id, show one',
  )
    .argument('[rule]', 'id of one rule or policy')
    .option('--org <name>', 'only this organization')
    .action((id: string | undefined, { config, json, org }: RulesOptions) =>
      withBot(config, async (bot) => {
        if (id !== undefined) {
          const rule = await bot.call('rule', { org: whichOrg(bot.config, org).name, rule: id });
          return print(json, rule, () => describe(rule));
        }
        const rules = await bot.call('rules', { org });
        print(json, rules, () => table(HEAD, rules.map(row), 'no rules: write one (docs/first-rule.md)'));
      }),
    );
}

const HEAD = [
  'rule',
  'mode',
  'starts',
  'fired',
  'not fired',
  'failed',
  'held',
  'next (UTC)',
  'held back by, or main reason for not firing',
];

function row(rule: RuleSummary): string[] {
  const { org, id, on, schedule, counts } = rule;
  return [
    `${org}/${id}`,
    modeOf(rule),
    plain([...on, ...(schedule ? [schedule.cron] : [])].join(', ')),
    ...[counts.fired, counts.notFired, counts.failed, counts.held].map(String),
    schedule ? when(schedule.next) : '',
    plain(heldBy(rule) ?? shortReason(counts.mainReason?.because ?? '')),
  ];
}

function modeOf({ mode, stage, disabled }: RuleSummary): string {
  if (disabled !== null) return 'disabled';
  if (stage === null) return mode;
  return stage.percent === null || stage.stage !== 'canary' ? stage.stage : `canary ${stage.percent}%`;
}

function heldBy({ disabled, pause, unmet }: RuleSummary): string | null {
  if (disabled !== null) return `disabled: ${disabled}`;
  if (pause) return `paused by ${pause.by}${pause.reason === null ? '' : `: ${pause.reason}`}`;
  return unmet;
}

function describe(rule: RuleReport): string {
  const { org, id, place, counts, schedule, source, conditions, actions } = rule;
  const held = heldBy(rule);
  const lines = [
    `${colour.bold(`${org}/${id}`)}  ${modeOf(rule)}  ${plain(place.file)}:${place.line}`,
    `  in 30 days: fired ${counts.fired}, not fired ${counts.notFired}, failed ${counts.failed}, held ${counts.held}`,
    ...(held === null ? [] : [`  ${colour.yellow('held back')}  ${plain(held)}`]),
    ...(schedule ? [`  next ${when(schedule.next)} UTC (${plain(schedule.cron)} ${plain(schedule.tz)})`] : []),
    ...(actions.length === 0 ? [] : [`  may do ${actions.join(', ')}`]),
  ];
  const asked = conditions.map(({ name, line, turnedAway, text }) => [
    plain(name),
    String(line),
    String(turnedAway),
    plain(text.replace(/\s+/g, ' ')),
  ]);
  if (asked.length > 0) lines.push('', table(['condition', 'line', 'rejected', 'text'], asked, ''));
  if (source)
    lines.push(
      '',
      ...source.lines.map((text, n) => `${colour.dim(String(source.firstLine + n).padStart(5))}  ${plain(text)}`),
    );
  return lines.join('\n');
}
