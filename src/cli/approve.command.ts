import type { Command } from 'commander';
import { stringifyJson } from '../core/json.js';
import type { Intent } from '../journal/run.js';
import { storeCommand } from './command-options.js';
import type { SetExit } from './command-options.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';

interface ApproveOptions {
  config: string;
  json: boolean;
  deny?: boolean;
}

export function approveCommand(exit: SetExit): Command {
  return storeCommand('approve', 'let go on what waits for your consent; without an id, what does')
    .argument('[id]', 'id of an intent, or of a run for all of it')
    .option('--deny', 'cancel it instead, with the later steps of its run')
    .action((id: string | undefined, options: ApproveOptions) =>
      withBot(options.config, async (bot) => {
        if (id === undefined) {
          const waiting = await bot.get<Intent[]>('/v1/approvals');
          const head = ['planned (UTC)', 'run', 'intent', 'rule', 'wants'];
          return print(options.json, waiting, () => table(head, waiting.map(row), 'nothing waits for an approval'));
        }
        const { intents } = await bot.post<{ intents: string[] }>(`/v1/approvals/${encodeURIComponent(id)}`, { deny: options.deny === true });
        print(options.json, { intents }, () => told(id, intents, options.deny === true));
        if (intents.length === 0) exit(1);
      }),
    );
}

function row({ id, runId, org, rule, action, params, plannedAt }: Intent): string[] {
  return [when(plannedAt), runId, id, `${org}/${rule}`, plain(`${action} ${stringifyJson(params)}`).slice(0, 120)];
}

function told(id: string, intents: readonly string[], isDenied: boolean): string {
  if (intents.length === 0) return `nothing of ${id} waits for an approval`;
  const what = intents.length === 1 ? `intent ${intents[0]}` : `${intents.length} intents of ${id}`;
  return isDenied ? `${what} will not be done` : `${what} will be done`;
}
