import { UserError } from '../../core/errors.js';
import { isFinding, webPages } from '../../housekeeping/doctor/check.js';
import { hostWord } from '../../housekeeping/doctor/examine-deliveries.js';
import { describeFix } from '../print-doctor.js';
import { ended } from '../apply.command.js';
import { countChanges } from '../count-changes.js';
import { describeApply, describeDone } from '../print-plan.js';
import { colour } from '../terminal.js';
import type { Asker } from './asker.js';
import { heardWithin, type LiveBot } from './live-bot.js';
import type { Steps } from './steps.js';
import { counted } from '../../api/words.js';

export interface GoLive {
  readonly asker: Asker;
  readonly steps: Steps;
  readonly bot: LiveBot;
  readonly org: string;
  readonly baseUrl: string;
  /** From the command line. */
  readonly flags: { readonly installHook?: boolean; readonly apply?: boolean; readonly wait: number };
  readonly yes: boolean;
  /** A forge that nobody else uses. */
  readonly isSandbox: boolean;
  /** Makes a delivery come; null = a person has to. */
  readonly act: (() => Promise<void>) | null;
  readonly stopping: AbortSignal;
}

/** The webhook; where the bot may not make it, what to click. @returns whether there is one */
export async function installWebhook(to: GoLive): Promise<boolean> {
  const { steps, bot, org, baseUrl, flags, yes, isSandbox } = to;
  const wish = { org, allEvents: true };
  const page = webPages(baseUrl).hooks(org);
  const byHand = (why: string): false => {
    steps.addLeft(
      'webhook',
      why,
      'type: forgehand hook install --all-events',
      `or open ${page}, Add Webhook → Gitea (Forgejo): target URL ${hookUrl(to)}, POST, application/json, All events, Active`,
      `its secret is the value of ${org}'s hook in the environment file`,
    );
    return false;
  };
  try {
    const plan = await bot.reach.call('installHook', { ...wish, dryRun: true });
    if (plan.does === 'refused') return byHand(plan.notes.join('; '));
    if (plan.does === 'nothing') {
      steps.addKept('webhook', `number ${plan.hook ?? ''} of ${org} is as it should be`);
      return true;
    }
    const isPrivate = isSandbox || hostWord(baseUrl) !== 'external';
    const consent = await to.asker.consent({
      flag: '--install-hook',
      say: `Install the webhook of ${org}, to ${hookUrl(to)}?`,
      fromFlags: flags.installHook,
      fallback: true,
      // A public forge may be somebody else's: --yes is not enough there.
      unasked: yes && isPrivate,
    });
    if (!consent) return byHand('not installed');
    const { hook } = await bot.reach.call('installHook', wish);
    steps.elsewhere.push(`webhook ${hook ?? ''} of ${org}: to remove it, open ${page}`);
    steps.addDone('webhook', `number ${hook ?? ''} of ${org} sends every event to ${hookUrl(to)}`);
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return byHand(error.message);
  }
}

function hookUrl({ bot: { config }, org }: GoLive): string {
  const hook = config.orgs.find(({ name }) => name === org)?.hooks[0]?.id ?? org;
  return `${config.server.publicUrl ?? 'http://THE-BOT:8080'}/webhooks/${hook}`;
}

/** Where people look, and what an application at the forge must name so that they can log in with their accounts. */
export function nameConsole({ steps, bot: { consoleUrl, config } }: Pick<GoLive, 'steps' | 'bot'>): void {
  if (consoleUrl === null) return;
  const forge = encodeURIComponent(config.forges[0]?.id ?? '');
  steps.say(
    '',
    `The Console is at ${consoleUrl} while the bot runs; forgehand console prints a link that logs you in.`,
    `People log in with their accounts of the forge once it has an OAuth2 application (docs/connecting.md) with the redirect address ${consoleUrl}/login/callback/${forge}`,
  );
}

export async function hearFirstDelivery(to: GoLive): Promise<void> {
  const { steps, bot, org, act, baseUrl, flags, stopping } = to;
  if (await heardWithin(bot, org, 0, stopping)) return steps.addKept('delivery', 'deliveries arrived before');
  const page = webPages(baseUrl).hooks(org);
  if (act) await act();
  else
    steps.say(
      `Waiting for the first delivery, at most ${flags.wait} s: open an issue or push something in a repository of ${org}. ${page} shows what the forge sent`,
    );
  if (await heardWithin(bot, org, flags.wait, stopping)) return steps.addDone('delivery', 'the first delivery arrived');
  steps.addLeft('delivery', 'none arrived yet', 'type: forgehand doctor (it says what to look at)');
}

/** A token for rules to come may do more than the first rules need. */
const LATER = 'token.wide';

export async function runDoctor({ steps, bot, org }: GoLive): Promise<void> {
  const { rows: checks } = await bot.reach.call('doctor', { org, fresh: true, operations: false, limit: 1_000 });
  const findings = checks.filter((one) => isFinding(one) && one.check !== LATER);
  const wide = checks.find((one) => isFinding(one) && one.check === LATER);
  if (findings.length === 0)
    return steps.addDone(
      'doctor',
      `${checks.length} checks, nothing is wrong${wide ? `; for later: ${wide.said}` : ''}`,
    );
  steps.addLeft(
    'doctor',
    `${findings.length} of ${checks.length} checks found something`,
    ...findings.map(({ check, said }) => `${check}: ${said}`),
  );
  steps.say(...findings.filter(({ fix }) => fix.length > 0).map(describeFix));
}

/** Shows what the policies would change, and applies it when told so. Where rules or forge changed meanwhile, it shows the new plan once. */
export async function offerPlan(to: GoLive, isAgain = false): Promise<void> {
  const { steps, bot, org, flags, asker, yes, isSandbox } = to;
  const plan = await bot.reach.call('plan', { org });
  const short = plan.hash.slice(0, 12);
  if (plan.lines.length === 0) return steps.addDone('plan', 'the policies have nothing to change');
  steps.say('', colour.bold(`Plan ${short}: what the policies would change`), ...countChanges(plan.lines), '');
  const consent = await asker.consent({
    flag: '--apply',
    say: `Apply plan ${short} now?`,
    fromFlags: flags.apply,
    fallback: isSandbox,
    unasked: yes && isSandbox,
  });
  const later = [
    ...(plan.needsApproval ? [`type: forgehand approve ${short}`] : []),
    `type: forgehand apply ${short} (forgehand plan --all shows every line)`,
  ];
  if (!consent) return steps.addLeft('plan', `plan ${short} is not applied`, ...later);
  const decision = plan.needsApproval ? await bot.reach.call('decidePlan', { hash: plan.hash }) : null;
  const report = decision?.applied ?? (await bot.reach.call('applyPlan', { hash: plan.hash }));
  if (report.outcome === 'refused' && !isAgain) {
    steps.say(describeApply(report), 'The plan is made again:');
    return offerPlan(to, true);
  }
  if (report.outcome === 'refused')
    return steps.addLeft('plan', describeApply(report), 'type: forgehand plan, and approve the plan that it shows');
  const runs = await ended(bot.reach, report.runs);
  const well = runs.filter(({ run }) => run.state === 'done').length;
  if (well === runs.length)
    return steps.addDone('plan', `plan ${short} is applied: ${counted(plan.lines.length, 'change')}`);
  steps.addLeft('plan', `${runs.length - well} of ${runs.length} runs did not end well`, 'type: forgehand runs');
  steps.say(describeDone(runs, report.plan.calls));
}
