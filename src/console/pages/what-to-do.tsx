import type { ComponentChildren } from 'preact';
import type { Tone } from '../../api/words.js';
import { writesOf } from '../../api/lists.js';
import type { AnswerOf } from '../../api/operations/index.js';
import { tableOf } from '../../core/table.js';
import { Time } from '../ui/components.js';
import { WaitingText } from '../ui/waiting.js';
import { activityPath, planPath, type Plan } from '../ui/words.js';
import { counted } from '../../api/words.js';

export type Status = AnswerOf<'status'>;

/** Something that a person should look at, and where to go. */
export interface Step {
  readonly tone: Tone;
  readonly what: ComponentChildren;
  readonly next: ComponentChildren;
}

/** What does not work or waits, the worst first. */
export function stepsOf(status: Status, approvals: number, plans: readonly Plan[]): Step[] {
  const { alerts, forges, rows: orgs, quarantined, behind, paused, held, waiting, deliveries } = status;
  const steps: Step[] = [
    ...alerts.filter(({ code }) => !TOLD_BELOW.has(code)).map(stepOfAlert),
    ...forges
      .filter(({ reachable }) => reachable === false)
      .map(({ id }) =>
        bad(`The forge ${id} does not answer.`, say`Deliveries are stored and wait. Run the ${doctor()}.`),
      ),
    ...orgs.flatMap(({ name, heldBack }) =>
      heldBack
        .slice(0, 3)
        .map((problem) =>
          bad(
            `A newer revision of the rules of ${name} is held back: ${problem}`,
            say`Fix the file; the last good revision stays active. See ${rules()}.`,
          ),
        ),
    ),
    ...orgs.flatMap(({ name, lacking }) =>
      lacking
        .slice(0, 3)
        .map((problem) =>
          bad(`Some rules of ${name} are held back: ${problem}`, say`Run the ${doctor()}; it names the permission.`),
        ),
    ),
    ...quarantined.map(({ topic, id, deaths, since }) =>
      bad(
        say`The ${topic} ${code(id)} ended ${counted(deaths, 'process', 'processes')} and is set aside since ${ago(since)}.`,
        code(`forgehand release ${id}`),
      ),
    ),
    ...behind.flatMap(stepsBehind),
    ...(approvals > 0
      ? [
          attention(
            `${counted(approvals, 'effect waits', 'effects wait')} for approval.`,
            say`Look at what ${approvals === 1 ? 'it does' : 'they do'}, and approve or deny: ${effects({ effects: 'waiting' })}.`,
          ),
        ]
      : []),
    ...plans.map((plan) =>
      attention(
        say`A plan of ${plan.policy === null ? `the policies of ${plan.org}` : `${plan.policy} in ${plan.org}`} waits for approval since ${ago(plan.madeAt)}: ${counted(writesOf(plan).length, 'change')}.`,
        say`Look at what it would write, and approve or deny it: ${link(planPath(plan.hash), 'plan')}.`,
      ),
    ),
    ...paused.map(({ org, rule, by, at, reason, waiting: effectsWaiting }) =>
      attention(
        say`${rule ?? org ?? 'Everything'} is paused by ${by} since ${ago(at)}${reason ? `: ${reason}` : ''}; ${counted(effectsWaiting, 'effect waits', 'effects wait')}.`,
        say`Resume it on the page of the ${rules()}.`,
      ),
    ),
    ...held.map(({ org, kind, of, perHour, effects: heldEffects, next }) =>
      attention(
        `${counted(heldEffects, 'effect')} of ${org}: the budget of ${kind} ${of} (${perHour} an hour) is spent.`,
        say`The first is tried again ${ago(next)}. Raise ${code('orgs[].budgets')} if that is too slow.`,
      ),
    ),
    ...waiting
      .filter((one) => !WAITS_TOLD.has(one.code))
      .map((one) => attention(<WaitingText waiting={one} />, one.todo ?? 'It goes on by itself.')),
    ...orgs.flatMap(({ stages }) =>
      stages
        .filter(({ kind }) => kind === 'fallback')
        .map(({ rule, org }) =>
          attention(
            `The canary of ${rule} in ${org} made errors and fell back to shadow.`,
            say`See its runs, fix the rule, promote it again: ${rules()}.`,
          ),
        ),
    ),
    ...deliveries.hooks
      .filter(({ last }) => last === null)
      .map(({ org, hook }) =>
        note(
          say`No delivery of the hook ${code(hook)} of ${org} came in the last day.`,
          say`If the organization is not quiet, run the ${doctor()}.`,
        ),
      ),
  ];
  const order: readonly Tone[] = ['bad', 'attention', 'info'];
  return steps.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}

/** What a rule left behind: effects whose outcome is unknown, or that ended without their effect. */
function stepsBehind({ org, rule, count, state, byCommand }: Status['behind'][number]): Step[] {
  const many = counted(count, 'effect');
  const see = effects({ org, rule, effects: state });
  if (state === 'unknown')
    return [
      bad(
        `The outcome of ${many} of ${rule} in ${org} is unknown.`,
        say`The bot reads the forge again. If it cannot, say what became of it: ${see}.`,
      ),
    ];
  // A person asked for what cannot be: nothing is broken.
  if (state === 'refused' && byCommand)
    return [
      note(
        `${many} that people asked ${rule} in ${org} for by a command ${count === 1 ? 'was' : 'were'} refused.`,
        say`The bot answered them. See why: ${see}.`,
      ),
    ];
  return state === 'dead' || state === 'refused' || state === 'conflict'
    ? [bad(`${many} of ${rule} in ${org} ended as ${state}.`, say`See why, then retry: ${see}.`)]
    : [];
}

/** What other lines of the list tell, with a way to the thing itself. */
const WAITS_TOLD: ReadonlySet<string> = new Set([
  'effect.approval',
  'effect.budget',
  'effect.pause',
  'plan.approval',
  'work.quarantined',
]);

/** Alerts that other lines of the list tell, with a way to the thing itself. */
const TOLD_BELOW: ReadonlySet<string> = new Set(['plan.approval', 'rule.approval', 'canary.fell-back']);

/** Nothing is broken: somebody was refused, or is asked to look. By the code, or by its first part. */
const TO_LOOK_AT = tableOf<(code: string) => ComponentChildren>({
  security: (one) => say`Look for ${code(one)} in the log: it says who, and from where.`,
  finding: () => say`See what the policy expects: ${link('/plans', 'findings')}.`,
  'budget.spent': () => say`The effects wait their turn. See whose they are: ${effects({ effects: 'planned' })}.`,
  'rule.held': () => say`See what the rule fires on, and narrow it: ${rules()}.`,
});

function stepOfAlert({ code: one, message, at }: Status['alerts'][number]): Step {
  const look = TO_LOOK_AT[one] ?? TO_LOOK_AT[one.split('.')[0] ?? ''];
  const what = say`${message}, since ${ago(at)}`;
  return look ? attention(what, look(one)) : bad(what, say`Run the ${doctor()}; it names the fix.`);
}

function bad(what: ComponentChildren, next: ComponentChildren): Step {
  return { tone: 'bad', what, next };
}

function attention(what: ComponentChildren, next: ComponentChildren): Step {
  return { tone: 'attention', what, next };
}

function note(what: ComponentChildren, next: ComponentChildren): Step {
  return { tone: 'info', what, next };
}

/** A sentence with elements in it. */
function say(texts: TemplateStringsArray, ...parts: readonly ComponentChildren[]): ComponentChildren {
  return texts.flatMap((text, n) => [text, parts[n]]);
}

function link(href: string, text: string): ComponentChildren {
  return <a href={href}>{text}</a>;
}

function effects(filter: Readonly<Record<string, string>>): ComponentChildren {
  return link(activityPath(filter), 'effects');
}

function code(text: string): ComponentChildren {
  return <code>{text}</code>;
}

function ago(at: Date | string): ComponentChildren {
  return <Time at={at} relative />;
}

function doctor(): ComponentChildren {
  return link('/forge', 'doctor');
}

function rules(): ComponentChildren {
  return link('/rules', 'rules');
}
