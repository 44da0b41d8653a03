import { defineReasons, textOf, type Reason } from './reason.js';
import { tableOf } from './table.js';

/** What a rule or policy said when it was evaluated; the trace of the run holds the same in detail. */
interface Evaluated {
  readonly because: Reason;
  /** What the stage of its rollout adds. */
  readonly note?: string;
  /** Both people of a plan that took two. */
  readonly people?: string;
}

/** Why a rule or policy decided as it did, by code. */
export const verdictReason = defineReasons(
  {
    'verdict.conditions-hold': ({ conditions, effects }: { conditions: number; effects: number }) =>
      `${conditionsHeld(conditions)}; ${planned(effects)}`,
    /** `at`: file, line and column. */
    'verdict.condition-false': ({ condition, at }: { condition: string; at: string | null }) =>
      `condition "${condition}" is false${placed(at)}`,
    'verdict.condition-failed': ({ condition, error, at }: { condition: string; error: string; at: string | null }) =>
      `condition "${condition}": ${error}${placed(at)}`,
    /** Whoever gave the command may not do what a step wants. `right` null = nobody may ask for it by a command. */
    'verdict.not-allowed': ({ login, action, right, why }: NotAllowed) =>
      right === null
        ? `${action} cannot be asked for by a command`
        : `${login} may not ask for ${action}: it needs ${right}${why === null ? '' : ` (${why})`}`,
    /** An expression or a lookup, in the words of the error. */
    'verdict.failed': ({ error, at }: { error: string; at: string | null }) => `${error}${placed(at)}`,
    /** It needs fields of the event that are not known: no source told them, and no read does. */
    'verdict.unknown': ({ fields, at }: { fields: readonly string[]; at: string | null }) =>
      `it needs ${fields.join(' and ')}, which ${fields.length === 1 ? 'is' : 'are'} not known: no source reported ${fields.length === 1 ? 'it' : 'them'}, and no read of the forge tells${placed(at)} (has(${fields[0] ?? 'event'}) asks whether it is known)`,
    /** A filter looked at what was not known at first. */
    'verdict.filtered': ({ filter, because, at }: { filter: string; because: string; at: string | null }) =>
      `where.${filter} turns it away: ${because}${placed(at)}`,
    'verdict.fault': ({ error }: { error: string }) => `internal fault (${error})`,
    /** It took longer than `ms`, or (null) more memory than a decision may. */
    'verdict.stopped': ({ what, ms, at }: { what: string; ms: number | null; at: string | null }) =>
      `${what} took ${ms === null ? 'more memory than a decision may' : `longer than ${ms} ms`} and was stopped: walk shorter lists, filter them first, or narrow the events with where first${placed(at)}`,
    'verdict.over-limit': ({ effects, limit }: { effects: number; limit: number }) =>
      `over its limit: wants ${effects} effects, limits.effects_per_run is ${limit}`,
    'verdict.policy': ({ effects, failing, unknown, held }: OfPolicy) => {
      const audit = [
        ...(failing.length > 0 ? [`does not hold: ${failing.join(', ')}`] : []),
        ...unknown.map(({ name, error }) => `${name} cannot be evaluated: ${error ?? ''}`),
      ];
      const holds = held.length > 0 ? [`held: ${held.map(textOf).join('; ')}`] : [];
      if (effects > 0) return [planned(effects), ...audit, ...holds].join('; ');
      if (held.length > 0) return [...holds, ...audit].join('; ');
      return audit.length > 0 ? audit.join('; ') : 'everything is as the policy says';
    },
    'verdict.policy.unlisted': ({ what }: { what: string }) =>
      `the forge does not list ${what}; assume_absent: true goes by the journal alone`,
    /** The bot's own account. */
    'verdict.account': ({ settings }: { settings: readonly string[] }) =>
      `forges[].account wants ${settings.join(', ')}`,
  },
  ['login', 'action', 'right', 'has', 'conditions', 'effects', 'limit', 'ms'],
);

/**
 * What kept a rule from firing, in a few words.
 * @param of the name of a condition, which stays as it is, or the code of a run or a verdict
 */
export function shortReason(of: string): string {
  return (SHORT as Readonly<Record<string, string>>)[of] ?? of;
}

/** `right`: what the action needs; `why`: why the person's rights cannot be known, null = they are. What somebody may do is told to owners alone, and a reason is not sealed. */
interface NotAllowed {
  readonly login: string;
  readonly action: string;
  readonly right: string | null;
  readonly why: string | null;
}

/** `failing`: expectations that do not hold; `unknown`: those that could not be looked at; `held`: why parts of it are held. */
interface OfPolicy {
  readonly effects: number;
  readonly failing: readonly string[];
  readonly unknown: ReadonlyArray<{ readonly name: string; readonly error: string | null }>;
  // oxlint-disable-next-line local/no-participle-names -- stored with the code of a reason
  readonly held: readonly Reason[];
}

/** Why a run is as it is, by code. */
export const runReason = defineReasons(
  {
    'run.fired': evaluated,
    /** Something of what the policy wants is held. */
    'run.fired.in-part': evaluated,
    'run.not-fired': evaluated,
    'run.error': evaluated,
    'run.unmet': ({ because }: { because: Reason }) => `held back: ${textOf(because)}`,
    'run.echo': ({ depth }: { depth: number }) =>
      `the breaker is open: ${depth} effects of ours led to this event, one after another`,
    'run.not-confirmed': ({ code, because }: { code: string; because: string }) => `refused (${code}): ${because}`,
    'run.cannot-plan': ({ because }: { because: string }) => because,
    'run.held.limit': ({ fired, limit }: { fired: number; limit: number }) =>
      `held: ${fired} ${fired === 1 ? 'run' : 'runs'} in the last hour, the limit is ${limit} (limits.runs_per_hour)`,
    'run.held.policy': evaluated,
    'run.held.frozen': ({ wanted, ...freeze }: Freeze & { wanted: Reason }) =>
      `held: ${frozen(freeze)} (${textOf(wanted)})`,
    'run.held.cap': ({ caps, wanted }: { caps: readonly Reason[]; wanted: Reason }) =>
      `held: ${caps.some(({ code }) => code.startsWith('plan.over-cap')) ? 'over its cap: ' : ''}${caps.map(textOf).join('; ')} (${textOf(wanted)})`,
    'run.held.approval': ({ plan, wanted }: { plan: string; wanted: Reason }) =>
      `held: waits for an approval: forgehand approve ${plan} (${textOf(wanted)})`,
    /** It was never applied in this store. */
    'run.held.new-policy': ({ plan, wanted }: { plan: string; wanted: Reason }) =>
      `held: the policy is new here and waits once: forgehand approve ${plan} (${textOf(wanted)})`,
    'run.gathering': ({ seconds, key }: { seconds: number; key: string }) =>
      `waits up to ${seconds} s for others of key "${key}" (coalesce)`,
    /** The event does not know what the rule needs; the delivery may still tell it. */
    'run.unknown': ({ fields, source, seconds }: { fields: readonly string[]; source: string; seconds: number }) =>
      `waits up to ${seconds} s for a delivery: ${source} reported the event without ${fields.join(' and ')}`,
    'run.coalesced': ({ into, key }: { into: string; key: string }) =>
      `coalesced: run ${into} decides for all of key "${key}" in this window`,
    /** A person is told what became of what they asked for. */
    'run.answer': ({ because }: { because: Reason }) => `answers the person who asked: ${textOf(because)}`,
    'run.answer.waits': () =>
      'waits for the result of what a person asked for, to answer if it is refused, held or fails',
    'run.answer.none': () => 'no answer needed: the bot did what the person asked for, or nothing had to be done',
    /** A pull request is told what would become of the rules that it proposes. */
    'run.check': ({ problems }: { problems: number }) =>
      problems === 0
        ? 'reports to the pull request: its rules would be accepted'
        : `reports to the pull request: its rules would not be accepted: ${problems} ${problems === 1 ? 'problem' : 'problems'}`,
    'run.check.untried': () =>
      'reports to the pull request that its rules were not checked: they extend shared files, which no fork may try',
    'run.check.waits': () => 'waits for the check of the rules that the pull request proposes',
    'run.check.none': () => 'no check needed: the rules do not come from this repository',
    'run.subject-gone': () => 'the store no longer has its cause',
    'run.rule-gone': () => 'the rule no longer exists',
  },
  ['depth', 'fired', 'limit', 'seconds'],
);

type ShortCode = ReturnType<typeof verdictReason>['code'] | ReturnType<typeof runReason>['code'];

const SHORT = tableOf<string>({
  'verdict.conditions-hold': 'its conditions hold',
  'verdict.condition-false': 'a condition does not hold',
  'verdict.condition-failed': 'a condition failed',
  'verdict.not-allowed': 'the person may not ask for it',
  'verdict.failed': 'an expression or a lookup failed',
  'verdict.unknown': 'a field of the event is not known',
  'verdict.filtered': 'its filters turn the event away',
  'verdict.fault': 'an internal fault',
  'verdict.stopped': 'it took too long, or too much memory',
  'verdict.over-limit': 'it wants more effects than its limit',
  'verdict.policy': 'what the policy found',
  'verdict.policy.unlisted': 'the forge does not list it',
  'verdict.account': 'settings of the bot account',
  'run.fired': 'it fired',
  'run.fired.in-part': 'a part of it is held',
  'run.not-fired': 'nothing to do',
  'run.error': 'it could not be decided',
  'run.unmet': 'a permission is missing',
  'run.echo': 'the bot would answer itself',
  'run.not-confirmed': 'the forge does not confirm it',
  'run.cannot-plan': 'it cannot be planned',
  'run.held.limit': 'its limit of runs',
  'run.held.policy': 'held in part',
  'run.held.frozen': 'a freeze',
  'run.held.cap': 'over its cap',
  'run.held.approval': 'waits for an approval',
  'run.held.new-policy': 'new here: waits for an approval',
  'run.gathering': 'waits for others like it',
  'run.unknown': 'waits for the delivery',
  'run.coalesced': 'another run decides for it',
  'run.answer': 'an answer',
  'run.answer.waits': 'waits to answer',
  'run.answer.none': 'no answer needed',
  'run.check': 'a check of rules',
  'run.check.untried': 'a check of rules',
  'run.check.waits': 'waits for a check of rules',
  'run.check.none': 'no check needed',
  'run.subject-gone': 'its cause is not stored any more',
  'run.rule-gone': 'the rule does not exist any more',
} satisfies Record<ShortCode, string>);

interface GivenUp {
  readonly tries: number | null;
  readonly hours: number | null;
}

interface PrivateRead {
  readonly action: string;
  /** Full name of what was read. */
  readonly repo: string;
  readonly isPrivate: true | null;
}

interface Contradiction {
  readonly kind: string;
  readonly number: string;
  readonly doubt: keyof typeof DOUBTS;
  readonly now: LiveDifference;
}

/** What an issue or pull request is now, other than the event says. */
export type LiveDifference =
  | { readonly what: 'state'; readonly value: string }
  | { readonly what: 'merged'; readonly value: false }
  | { readonly what: 'draft'; readonly value: true }
  | { readonly what: 'labels' | 'assignees' | 'milestone'; readonly value: readonly string[] };

/** Why an event may not hold any more. */
const DOUBTS = {
  'told-again': 'was delivered again',
  'out-of-order': 'arrived out of order',
  late: 'waited for its turn',
} as const;

/** A window of the operator in which schedules and plans stand still. */
export interface Freeze {
  /** Minute of its end, UTC. */
  readonly until: string;
  /** In the operator's words. */
  readonly reason: string;
}

export function frozen({ until, reason }: Freeze): string {
  return `frozen until ${until}: ${reason}`;
}

/** Why an intent is as it is, by code. */
export const intentReason = defineReasons(
  {
    'intent.changed-without-call': ({ said }: { said: Reason }) =>
      `the action reported a change without a write: ${textOf(said)}`,
    'intent.done-then-failed': () => 'done; a step after the write failed',
    'intent.dry-run': () => 'dry-run',
    /** A call or a step of the work failed, in the words of the error. */
    'intent.failed': ({ error, message }: { error: string; message: string }) => message,
    /** A fault of the program: its text may hold anything, so only its name is kept. */
    'intent.fault': ({ error }: { error: string }) => `internal fault (${error})`,
    /** After so many tries, or (null) so many hours of failures. */
    'intent.given-up': ({ tries, hours, last }: GivenUp & { last: Reason }) =>
      `given up after ${tries === null ? `${hours} hours of failures` : `${tries} tries`}: ${textOf(last)}`,
    /** Something that others do is missing still. */
    'intent.waits': ({ because }: { because: Reason }) => `waits: ${textOf(because)}`,
    'intent.waited-in-vain': ({ days, because }: { days: number; because: Reason }) =>
      `given up after ${days} days: ${textOf(because)}`,
    'intent.no-action': ({ action }: { action: string }) => `there is no action ${action}`,
    'intent.bad-param': ({ param, problem }: { param: string; problem: string }) => `${param}: ${problem}`,
    'intent.unknown-param': ({ param, action }: { param: string; action: string }) =>
      `${param}: ${action} has no such parameter`,
    'intent.no-secret': ({ secret }: { secret: string }) => `secret ${secret} is not defined for this organization`,
    'intent.no-org': ({ org }: { org: string }) => `organization ${org} is no longer in the config`,
    'intent.no-forge': ({ forge }: { forge: string }) => `forge ${forge} is no longer in the config`,
    'intent.no-power': ({ power, org }: { power: string; org: string }) =>
      `the operator has not granted the power ${power} to ${org} (orgs[].powers)`,
    'intent.limit.merges': ({ org }: { org: string }) =>
      `the operator did not allow merges by rules of ${org} (orgs[].limits.merges)`,
    /** `isPrivate` null = the forge does not tell. */
    'intent.limit.private-mirrors': ({ isPrivate }: { isPrivate: true | null }) =>
      `not mirrored: ${visibility(isPrivate)}, and the operator did not allow mirrors of private repositories (orgs[].limits.private_mirrors)`,
    'intent.limit.private-reads': ({ action, repo, isPrivate }: PrivateRead) =>
      `${action} would write what the run read of ${repo} where others may read it, and ${visibility(isPrivate)} (orgs[].limits.private_reads)`,
    'intent.contradicted': ({ kind, number, doubt, now }: Contradiction) =>
      `${kind} of #${number} ${DOUBTS[doubt]}, and no longer holds: it ${tellNow(now)}`,
    'intent.overtaken': ({ rule, intent }: { rule: string; intent: string }) =>
      `overtaken: rule ${rule} asked for something else later, and that came first (intent ${intent})`,
    'intent.undone': ({ told, event, intent }: { told: string; event: string; intent: string | null }) =>
      `${told}: not made again (event ${event}${intent === null ? '' : `; \`forgehand retry ${intent}\` makes it`})`,
    'intent.undone-unseen': ({ said, intent }: { said: Reason; intent: string }) =>
      `${textOf(said)}: not made again (\`forgehand retry ${intent}\` makes it)`,
    /** `isLocal`: in the revision of this process; another one may know a newer. */
    'intent.rule-gone': ({ isLocal }: { isLocal: boolean }) => `the rule no longer exists${local(isLocal)}`,
    'intent.rule-mode': ({ mode, isLocal }: { mode: string; isLocal: boolean }) =>
      `the rule is in mode ${mode} now${local(isLocal)}`,
    'intent.rule-disabled': ({ why, isLocal }: { why: string; isLocal: boolean }) =>
      `the rule is disabled: ${why}${local(isLocal)}`,
    'intent.rule-fell-back': () => 'the rule fell back to shadow',
    'intent.flips': ({ rules, org }: { rules: readonly string[]; org: string }) =>
      `rules ${rules.join(' and ')} of ${org} set the same thing back and forth: they are paused`,
    'intent.forge-refuses': ({ credential }: { credential: string }) =>
      `forge ${credential} refuses our credentials; the bot sends nothing until it accepts them`,
    'intent.forge-silent': ({ credential, calls }: { credential: string; calls: number }) =>
      `forge ${credential} did not answer ${calls} calls in a row; the bot sends nothing for a while`,
    'intent.forge-limits': ({ credential }: { credential: string }) =>
      `forge ${credential} asked the bot to wait (429)`,
    'intent.cause-unknown': ({ because }: { because: Reason }) =>
      `waits for the forge to say who caused it: ${textOf(because)}`,
    'intent.locked-out': ({ forge }: { forge: string }) => `forge ${forge} refuses our credentials`,
    'intent.not-ours': () => 'another worker has the intent now, or it is paused',
    'intent.stopping': () => 'the process stops',
    'intent.held.budget': ({
      kind,
      of,
      perHour,
      minutes,
    }: {
      kind: string;
      of: string;
      perHour: number;
      minutes: number;
    }) =>
      `held: the budget of ${kind} ${of} is spent, ${perHour} ${perHour === 1 ? 'effect' : 'effects'} per hour (orgs[].budgets); there is room again in ${minutes} min`,
    'intent.answered-lately': ({ login }: { login: string }) =>
      `${login} is not a member of the organization and was answered within the last hour`,
    'intent.earlier-step': () => 'an earlier step of the run did not end well',
    'intent.approved': ({ by }: { by: string }) => `approved by ${by}`,
    'intent.denied': ({ by }: { by: string }) => `denied by ${by}`,
    'intent.revived': ({ by }: { by: string }) => `revived by ${by}`,
    'intent.resolved': ({ by, exists }: { by: string; exists: boolean }) =>
      `${by} says that it ${exists ? 'exists' : 'does not exist'}`,
    'intent.owner-lost.sent': () => 'its worker was lost after it started the call',
    'intent.owner-lost.unsent': () => 'its worker was lost before the call',
    'intent.shown': ({ event, kind }: { event: string; kind: string }) => `shown by event ${event} (${kind})`,
    'intent.answer-stored': ({ outcome }: { outcome: string }) =>
      `the answer was stored before its worker was lost: ${outcome}`,
    'intent.confirmed': ({ found }: { found: Reason }) => `confirmed by reading: ${textOf(found)}`,
    'intent.seen-once': ({ found }: { found: Reason }) => `seen once; the bot reads it once more: ${textOf(found)}`,
    'intent.unreadable': ({ because }: { because: Reason }) => `the outcome cannot be read now: ${textOf(because)}`,
    'intent.read-again': ({ found }: { found: Reason }) => `read after an unknown outcome: ${textOf(found)}`,
    'intent.no-answer': () => 'no answer',
    'intent.unreadable-for-long': ({ because }: { because: Reason }) =>
      `it could not be read for a day: ${textOf(because)}`,
    'intent.ask-person': ({ because, intent }: { because: Reason; intent: string }) =>
      `the outcome is unknown and the bot does not repeat the call: ${textOf(because)}; look at the forge, then run \`forgehand resolve ${intent} --exists\` or \`--absent\``,
  },
  [
    'action',
    'param',
    'kind',
    'number',
    'doubt',
    'now',
    'org',
    'power',
    'mode',
    'tries',
    'hours',
    'days',
    'perHour',
    'minutes',
  ],
);

/** Steps that were cancelled because an earlier step of their run ended badly; a revival of that step revives them. */
export const LATER_STEP = intentReason('intent.earlier-step');

/** Code of an intent that waits for what others do. */
export const WAITS = 'intent.waits' satisfies IntentCode;

export const OWNER_LOST = {
  sent: intentReason('intent.owner-lost.sent'),
  unsent: intentReason('intent.owner-lost.unsent'),
} as const;

/** Codes of runs that were held, so that nothing was decided: a limit, a freeze, a cap or a missing approval stood between. */
export const HELD_PREFIX = 'run.held.';

export type RunCode = ReturnType<typeof runReason>['code'];
type IntentCode = ReturnType<typeof intentReason>['code'];

/** Whether this is the reason; a misspelt code does not compile. */
export function isReason(reason: Pick<Reason, 'code'> | null, code: RunCode | IntentCode): boolean {
  return reason?.code === code;
}

/** Whether a run was held, whole. */
export function isHeld({ code }: Pick<Reason, 'code'>): boolean {
  return code.startsWith(HELD_PREFIX);
}

/** The same with what the stage of a rollout adds. */
export function withNote(reason: Reason, note: string): Reason {
  return { ...reason, params: { ...reason.params, note } };
}

/** The same with both people of a plan that took two. */
export function withPeople(reason: Reason, people: string): Reason {
  return { ...reason, params: { ...reason.params, people } };
}

function visibility(isPrivate: true | null): string {
  return isPrivate ? 'the repository is private' : 'the forge does not say that the repository is public';
}

function local(isLocal: boolean): string {
  return isLocal ? ', in the revision of this process' : '';
}

function tellNow(now: LiveDifference): string {
  if (now.what === 'state') return `is ${now.value}`;
  if (now.what === 'merged') return 'is not merged';
  if (now.what === 'draft') return 'is a draft';
  return now.value.length === 0 ? `has no ${now.what}` : `has ${now.what} ${now.value.join(', ')}`;
}

function conditionsHeld(conditions: number): string {
  if (conditions === 0) return 'no conditions';
  return conditions === 1 ? 'the condition held' : `all ${conditions} conditions held`;
}

function planned(effects: number): string {
  return effects === 0 ? 'no effect planned' : `${effects} ${effects === 1 ? 'effect' : 'effects'} planned`;
}

function placed(at: string | null): string {
  return at === null ? '' : ` (${at})`;
}

function evaluated({ because, note, people }: Evaluated): string {
  return `${textOf(because)}${note === undefined ? '' : `; ${note}`}${people === undefined ? '' : ` (${people})`}`;
}
