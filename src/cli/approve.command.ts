import type { Command } from 'commander';
import { stringifyJson } from '../core/json.js';
import type { Shown } from '../core/reason.js';
import type { Intent } from '../core/run.js';
import type { KeptPlan } from '../policies/policy-plan.js';
import { reasonOption } from './command-options.js';
import type { SetExit } from './command-options.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';
import type { Reach } from './reach-bot.js';
import { colour, writeOut } from './terminal.js';
import { storeCommand } from './bot-command.js';
import { placeOptions, printPages, type PageOptions } from './page-command.js';
import { listTable } from './print-list.js';
import { PLANS } from '../api/lists.js';

interface ApproveOptions extends PageOptions {
  readonly deny: boolean;
  readonly reason?: string;
}

export function approveCommand(exit: SetExit): Command {
  const command = storeCommand('approve', 'approve a pending plan or effect; without an id, list what is pending');
  for (const option of placeOptions()) command.addOption(option);
  return command
    .argument('[id]', 'id of an intent, id of a run (all of its intents), or hash of a plan')
    .option('--deny', 'deny it, and cancel the later steps of its run', false)
    .addOption(reasonOption())
    .action((id: string | undefined, options: ApproveOptions) =>
      withBot(options.config, async (bot) => {
        if (id !== undefined && /^[0-9a-f]{6,64}$/.test(id)) {
          const { plan } = await bot.call('planOf', { hash: id });
          if (plan) return decidePlan(bot, plan, options, exit);
        }
        if (id === undefined) return printWaiting(bot, options);
        const { intents } = await bot.call('approve', { id, deny: options.deny, reason: options.reason });
        print(options.json, { intents }, () => describeDecision(id, intents, options.deny));
        if (intents.length === 0) exit(1);
      }),
    );
}

async function printWaiting(bot: Reach, options: ApproveOptions): Promise<void> {
  const open = await bot.call('plans', { state: 'open' });
  const plans = open.filter(({ needsApproval, lines }) => needsApproval && lines.length > 0);
  if (options.json && options.all) for (const plan of plans) writeOut(`${stringifyJson(plan)}\n`);
  const head = ['planned (UTC)', 'run', 'intent', 'rule', 'wants'];
  const none = plans.length > 0 ? 'no effect waits for an approval' : 'nothing waits for an approval';
  await printPages(options, {
    page: async (place) => ({ plans, ...(await bot.call('approvals', place)) }),
    show: ({ rows, next }) =>
      `${plans.length > 0 ? `${listTable(PLANS, plans)}\n\n` : ''}${table(head, rows.map(row), none)}${next === null ? '' : `\n${colour.dim(`more: --after ${next}, or --all`)}`}`,
  });
}

async function decidePlan(
  bot: Reach,
  plan: KeptPlan,
  { json, deny, reason }: ApproveOptions,
  exit: SetExit,
): Promise<void> {
  const decision = await bot.call('decidePlan', { hash: plan.hash, deny, reason });
  const { describeApply } = await import('./print-plan.js');
  const short = plan.hash.slice(0, 12);
  print(json, decision, () => {
    if (!decision.decided)
      return decision.applied ? describeApply(decision.applied) : `plan ${short} was ${decision.plan.state} already`;
    if (deny) return `plan ${short} is denied: nothing of it will be written`;
    return decision.applied
      ? `plan ${short} is approved\n${describeApply(decision.applied)}`
      : `plan ${short} is approved; forgehand apply ${short} writes it`;
  });
  if (decision.applied ? decision.applied.outcome === 'refused' : !decision.decided) exit(1);
}

function row({ id, runId, org, rule, action, params, plannedAt }: Shown<Intent>): string[] {
  return [when(plannedAt), runId, id, `${org}/${rule}`, plain(`${action} ${stringifyJson(params)}`).slice(0, 120)];
}

function describeDecision(id: string, intents: readonly string[], isDenied: boolean): string {
  if (intents.length === 0) return `nothing of ${id} waits for an approval`;
  const what = intents.length === 1 ? `intent ${intents[0]}` : `${intents.length} intents of ${id}`;
  return isDenied ? `${what} will not be done` : `${what} will be done`;
}
