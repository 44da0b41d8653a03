import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { RolloutRow } from '../pipeline/rollout-store.port.js';
import { stringifyJson } from '../core/json.js';
import { reasonOption } from './command-options.js';
import { plain, when } from './print.js';
import type { SentTo } from '../api/operations/index.js';
import { botCommand } from './bot-command.js';

export function promoteCommand(): Command {
  return botCommand('promote', 'promote a rule from shadow or canary, recorded with your name', {
    argument: 'rule',
    ask: (bot, options: SentTo<'promote'>) => bot.call('promote', options),
    show: describe,
  })
    .argument('<rule>', 'id of the rule')
    .option('--org <name>', 'organization. Required when the config has several')
    .addOption(
      new Option('--to <stage>', 'live, or canary:N% of the repositories').argParser(readStage).default('live'),
    )
    .option('--force', 'promote in spite of errors or too few decisions', false)
    .addOption(reasonOption());
}

function readStage(text: string): number | 'live' {
  if (text === 'live') return 'live';
  const [, digits] = /^canary:(\d{1,3}(?:\.\d{1,2})?)%?$/.exec(text) ?? [];
  const percent = Number(digits);
  if (!(percent > 0 && percent <= 100)) throw new InvalidArgumentError('expected live or canary:10%.');
  return percent;
}

function describe({ rule, org, stage, percent, by, at, evidence, forced }: RolloutRow): string {
  const { from, decisions, fired, errors, live, recorded } = evidence;
  return [
    `${org}/${rule} is ${stage === 'canary' ? `canary ${percent}%` : stage} now; promoted by ${plain(by)} at ${when(at)} UTC${forced ? ', forced' : ''}`,
    `evidence: was ${plain(String(from))}; ${String(decisions)} decisions, ${String(fired)} fired, ${String(live)} written, ${String(errors)} errors`,
    `recorded and not written: ${plain(stringifyJson(recorded))}`,
  ].join('\n');
}
