import type { Command } from 'commander';
import type { RuleReport } from '../api/operations/answers.js';
import { plain, print, when } from './print.js';
import { withBot } from './reach-bot.js';
import { colour } from './terminal.js';
import { whichOrg } from './which-org.js';
import { CONDITIONS, RULES, heldBackBy, modeOfRule } from '../api/lists.js';
import { orgOption } from './command-options.js';
import { storeCommand } from './bot-command.js';
import type { AnswerOf } from '../api/operations/index.js';
import { moreLine, pageOptions, printPages, type PageOptions } from './page-command.js';
import { listTable } from './print-list.js';

interface RulesOptions extends PageOptions {
  readonly org?: string;
  readonly search?: string;
}

export function rulesCommand(): Command {
  const command = storeCommand(
    'rules',
    'list rules and policies: mode, counts of 30 days, what holds them back; with an id, show one',
  )
    .argument('[rule]', 'id of one rule or policy')
    .addOption(orgOption());
  for (const option of pageOptions()) command.addOption(option);
  return command.action((id: string | undefined, options: RulesOptions) =>
    withBot(options.config, async (bot) => {
      const { json, org, search } = options;
      if (id !== undefined) {
        const rule = await bot.call('rule', { org: whichOrg(bot.config, org).label, rule: id });
        return print(json, rule, () => describe(rule));
      }
      await printPages(options, {
        page: (place) => bot.call('rules', { org, search, ...place }),
        show: (page) =>
          [...page.refused.flatMap(refusedLines), `${listTable(RULES, page.rows)}${moreLine(page, 'rule')}`].join('\n'),
      });
    }),
  );
}

function refusedLines({ org, problems }: AnswerOf<'rules'>['refused'][number]): string[] {
  return [
    colour.red(`${plain(org)}: a newer revision is held back`),
    ...problems.map((problem) => `  ${plain(problem)}`),
    '',
  ];
}

function describe(rule: RuleReport): string {
  const { org, id, place, counts, schedule, source, conditions, actions } = rule;
  const heldBackText = heldBackBy(rule);
  const lines = [
    `${colour.bold(`${org}/${id}`)}  ${modeOfRule(rule)}  ${plain(place.file)}:${place.line}`,
    `  in 30 days: fired ${counts.fired}, not fired ${counts.notFired}, failed ${counts.failed}, held ${counts.held}`,
    ...(heldBackText === null ? [] : [`  ${colour.yellow('held back')}  ${plain(heldBackText)}`]),
    ...(schedule ? [`  next ${when(schedule.next)} UTC (${plain(schedule.cron)} ${plain(schedule.tz)})`] : []),
    ...(actions.length === 0 ? [] : [`  may do ${actions.join(', ')}`]),
  ];
  if (conditions.length > 0) lines.push('', listTable(CONDITIONS, conditions));
  if (source)
    lines.push(
      '',
      ...source.lines.map((text, n) => `${colour.dim(String(source.firstLine + n).padStart(5))}  ${plain(text)}`),
    );
  return lines.join('\n');
}
