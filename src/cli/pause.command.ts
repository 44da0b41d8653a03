import type { Command } from 'commander';
import { storeCommand } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';

interface Scope {
  config: string;
  json: boolean;
  org?: string;
  rule?: string;
}

export function pauseCommand(): Command {
  return storeCommand('pause', 'pause all writes to the forge; arrivals are still stored and decided')
    .option('--org <name>', 'only this organization')
    .option('--rule <id>', 'only this rule or policy')
    .action(async (options: Scope) => void (await order('pause', options, 'paused')));
}

/** Send a pause or resume order and say what it covers. */
export async function order(what: 'pause' | 'resume', options: Scope, done: string): Promise<boolean> {
  const scope = { ...(options.org ? { org: options.org } : {}), ...(options.rule ? { rule: options.rule } : {}) };
  return withBot(options.config, async (bot) => {
    const answer = await bot.post<{ paused?: boolean; resumed?: boolean }>(`/v1/${what}`, scope);
    const happened = answer.paused ?? answer.resumed ?? false;
    const covers =
      [options.org && `organization ${options.org}`, options.rule && `rule ${options.rule}`]
        .filter(Boolean)
        .join(', ') || 'everything';
    print(options.json, answer, () => (happened ? `${done}: ${covers}` : `${covers} was not paused`));
    return happened;
  });
}
