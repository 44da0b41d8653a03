import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RunReport } from '../api/operations/answers.js';
import { callsMade } from '../core/call-counts.js';
import { reasonOption } from './command-options.js';
import type { SetExit } from './command-options.js';
import { print } from './print.js';
import { withBot } from './reach-bot.js';
import type { Reach } from './reach-bot.js';
import { storeCommand, type BotOptions } from './bot-command.js';

interface ApplyOptions extends BotOptions {
  wait: boolean;
  reason?: string;
}

const LOOK_EVERY_MS = 200;
const PATIENCE_MS = 10 * 60_000;

/** Exit: 0 written as planned (or written before), 1 refused, or an effect did not end well. */
export function applyCommand(exit: SetExit): Command {
  return storeCommand('apply', 'apply a plan; refuses when anything in it has changed since')
    .argument('<hash>', 'hash of the plan, or its first characters')
    .option('--no-wait', 'return at once; do not wait for the effects')
    .addOption(reasonOption())
    .addHelpText('after', '\nExit codes: 0 written as planned (or before), 1 refused, or an effect did not end well.')
    .action((hash: string, options: ApplyOptions) =>
      withBot(options.config, async (bot) => {
        const { describeApply, describeDone } = await import('./print-plan.js');
        const report = await bot.call('applyPlan', { hash, reason: options.reason });
        const waits = report.outcome === 'applied' && options.wait && bot.running;
        const endedRuns = waits ? await ended(bot, report.runs) : null;
        const calls = endedRuns && callsMade(endedRuns.flatMap(({ intents }) => intents.map(({ result }) => result)));
        print(options.json, { ...report, effects: endedRuns, calls_made: calls }, () =>
          [describeApply(report), ...(endedRuns ? [describeDone(endedRuns, report.plan.calls)] : [])].join('\n'),
        );
        if (report.outcome === 'refused' || endedRuns?.some(({ run }) => run.state !== 'done')) exit(1);
      }),
    );
}

/** Waits for the effects of an applied plan. */
export async function ended(bot: Reach, ids: readonly string[]): Promise<RunReport[]> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const runs: RunReport[] = [];
    for (const id of ids) runs.push(await bot.call('run', { id }));
    if (runs.every(({ run }) => run.state !== 'open') || Date.now() > until) return runs;
    await sleep(LOOK_EVERY_MS);
  }
}
