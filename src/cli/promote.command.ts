import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { RolloutRow } from '../pipeline/rollout-store.port.js';
import { stringifyJson } from '../core/json.js';
import { reasonOption, storeCommand } from './command-options.js';
import { plain, print, when } from './print.js';
import { withBot } from './reach-bot.js';

interface PromoteOptions {
  config: string;
  json: boolean;
  org?: string;
  to: number | 'live';
  force: boolean;
  reason?: string;
}

export function promoteCommand(): Command {
  return storeCommand('promote', 'promote a rule from shadow or canary, recorded with your name')
    .argument('<rule>', 'id of the rule')
    .option('--org <name>', 'organization. Required when the config has several')
    .addOption(
      new Option('--to <stage>', 'live, or canary:N% of the repositories').argParser(readStage).default('live'),
    )
    .option('--force', 'promote in spite of errors or too few decisions', false)
    .addOption(reasonOption())
    .action((rule: string, { config, json, org, to, force, reason }: PromoteOptions) =>
      withBot(config, async (bot) => {
        const row = await bot.call('promote', { org, rule, to, force, reason });
        print(json, row, () => describe(row));
      }),
    );
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
