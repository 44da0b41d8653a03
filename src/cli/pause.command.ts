import type { Command } from 'commander';
import { storeCommand } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';

interface Scope {
  config: string;
  json: boolean;
  org?: string;
  rule?: string;
  reason?: string;
}

export function pauseCommand(): Command {
  return storeCommand('pause', 'pause all writes to the forge; arrivals are still stored and decided')
    .option('--org <name>', 'only this organization')
    .option('--rule <id>', 'only this rule or policy')
    .option('--reason <text>', 'reason, shown by `forgehand status`')
    .action(async (options: Scope) => void (await order('pause', options, 'paused')));
}

/** Send a pause or resume order and say what it covers. */
export async function order(what: 'pause' | 'resume', options: Scope, done: string): Promise<boolean> {
  const { org, rule, reason } = options;
  return withBot(options.config, async (bot) => {
    const scope = { org: org || undefined, rule: rule || undefined };
    const answer = await bot.call(what, { ...scope, reason: reason || undefined });
    const happened = 'paused' in answer ? answer.paused : answer.resumed;
    const covers = [org && `organization ${org}`, rule && `rule ${rule}`].filter(Boolean).join(', ') || 'everything';
    print(options.json, answer, () => (happened ? `${done}: ${covers}` : `${covers} was not paused`));
    return happened;
  });
}
