import { defineReasons, textOf, type Reason } from './reason.js';
import { cureOfStretched, sayStretched, type StretchedPolls } from './stretched-polls.js';

/** Every alert by its code. A receiver decides by the code; the sentence is for people. */
export const alert = defineReasons({
  'forge.unreachable': ({ forge }: { forge: string }) =>
    `forge ${forge} cannot be reached; deliveries are stored and wait`,
  'forge.unknown-self': ({ forge }: { forge: string }) =>
    `forge ${forge} does not say which account the token belongs to: the bot cannot tell its own acts from those of others`,
  /** `because` names the operation and the place. */
  'forge.wrong-shape': ({ forge, because }: { forge: string; because: Reason }) =>
    `forge ${forge} gave an answer that the bot cannot read, and what needs it waits: ${textOf(because)}`,
  'forge.silent': ({ forge }: { forge: string }) =>
    `forge ${forge} does not answer; intents stay planned until it does`,
  'forge.locked-out': ({ forge }: { forge: string }) =>
    `forge ${forge} refuses our credentials; intents stay planned until it accepts them`,
  'org.other-number': ({ org, number, pinned, calledNow }: OtherOrg) =>
    `${org} is another organization now (number ${number}, not ${pinned}): the bot neither reads nor changes anything of it until \`forgehand orgs accept ${org} --number ${number}\`${calledNow === null ? '' : `. Number ${pinned} is called ${calledNow} now: if you mean that one, correct orgs[].name`}`,
  'org.renamed': ({ org, calledNow }: { org: string; calledNow: string }) =>
    `${org} is called ${calledNow} now: correct orgs[].name in the config`,
  'org.twice': ({ org, calledNow, number }: { org: string; calledNow: string; number: string | null }) =>
    `${org} is the organization (number ${number}) that the config also calls ${calledNow}: take one of the two away, and type \`forgehand reload\``,
  'poller.failing': ({ source, failures }: { source: string; org: string; failures: number }) =>
    `the poller ${source} failed ${failures} times in a row`,
  'poller.stuck': ({ forge, org, seconds }: { forge: string; org: string; seconds: number }) =>
    `the poller has not read the feed of ${org} on ${forge} to its end for ${Math.round(seconds / 60)} min`,
  'polls.stretched': (polls: StretchedPolls) => `${sayStretched(polls)}; ${cureOfStretched(polls)}`,
  gaps: ({ org }: { org: string }) => `deliveries of ${org} are missing; polling found their events`,
  'webhooks.silent': ({ org }: { org: string }) => `the feed of ${org} has new rows, but no delivery comes`,
  'config.broken': ({ process, first }: { process: string; first: string }) =>
    `process ${process} did not reload its config and goes on with the one before: ${first}`,
  'rules.broken': ({ org }: { org: string }) =>
    `the rule files of ${org} have errors; the last good revision stays active`,
  'rules.not-offered': ({ org, first }: { org: string; first: Reason }) =>
    `rules of ${org} need what the forge or the token does not offer: ${textOf(first)}`,
  'rule.held': ({ org, rule, because }: { org: string; rule: string; because: Reason }) =>
    `rule ${rule} in ${org} fires too often: ${textOf(because)}`,
  'rule.unknown': ({ org, rule, because }: { org: string; rule: string; because: Reason }) =>
    `rule ${rule} in ${org} could not decide about an event: ${textOf(because)}`,
  'rule.approval': ({ org, rule, run }: { org: string; rule: string; run: string }) =>
    `rule ${rule} in ${org} waits for an approval: forgehand approve ${run}`,
  'plan.approval': ({ org, plan }: { org: string; plan: string }) =>
    `a plan of ${org} waits for an approval: forgehand approve ${plan}`,
  'canary.fell-back': ({ org, rule, errors, of }: { org: string; rule: string; errors: number; of: number }) =>
    `the canary of rule ${rule} in ${org} fell back to shadow and writes nothing: ${errors} of its last ${of} decisions were errors`,
  'breaker.chain': ({ org, rules }: { org: string; rules: readonly string[] }) =>
    `rules ${rules.join(' and ')} of ${org} answer each other's effects: they are paused (forgehand resume --org ${org} --rule ID)`,
  'breaker.flip': ({ org, because }: { org: string; because: Reason }) =>
    `${textOf(because)} (forgehand resume --org ${org} --rule ID)`,
  'breaker.budget': ({ org, rule, because }: { org: string; rule: string; because: Reason }) =>
    `rule ${rule} of ${org} is paused: ${textOf(because)} (forgehand resume --org ${org} --rule ${rule})`,
  'budget.spent': ({ org, because }: { org: string; because: Reason }) =>
    `effects in ${org} wait: ${textOf(because)} (forgehand status)`,
  'intent.dead': ({ org, rule, because }: OfIntent) =>
    `an intent of ${rule} in ${org} was given up: ${because ? textOf(because) : ''}`,
  'intent.waiting': ({ org, rule, because }: OfIntent) =>
    `an intent of ${rule} in ${org} waits for a person: ${because ? textOf(because) : ''}`,
  'queue.untested': ({ org, rule, because }: { org: string; rule: string; because: Reason }) =>
    `the merge queue of ${rule} in ${org}: ${textOf(because)} (docs/guarantees.md says how to close this window)`,
  'intent.doubled': ({ org, rule, found }: { org: string; rule: string; found: Reason }) =>
    `${textOf(found)} (rule ${rule} in ${org})`,
  'delivery.quarantined': ({ org, hook, code, id }: { org: string; hook: string; code: string; id: string }) =>
    `a delivery of ${org} by hook ${hook} makes no event (${code}): it is kept until \`forgehand release ${id}\`; \`forgehand deliveries\` lists others like it`,
  'work.quarantined': ({ topic, id, because }: { topic: string; id: string; because: Reason }) =>
    `${topic} ${id}: ${textOf(because)}`,
  /** A violation of an expectation; the message is the policy's own. */
  finding: ({ subject, message }: { subject: string; message: string }) => `${subject}: ${message}`,
  housekeeping: ({ job, first }: { job: string; first: string }) => `${job}: ${first}`,
  'security.authentication_failed': () => 'authentication failed (see `security.authentication_failed` in the log)',
  'security.tenant_mismatch': () =>
    'a delivery names a repository or owner of another organization (see `security.tenant_mismatch` in the log)',
  'security.act_too_old': () =>
    'a delivery is about an act older than retention.max_age: it is held until `forgehand release` (see `security.act_too_old` in the log)',
  'security.power_refused': () =>
    'an effect or an order was refused: it needs a power or a scope that was not granted (see `security.power_refused` in the log)',
  'security.unknown_operator': () =>
    'a call to the control API had a token of no operator (see `security.unknown_operator` in the log)',
});

/** `pinned`: the number that the bot works for; `calledNow`: the name that one has now, null where the forge does not say. */
interface OtherOrg {
  readonly org: string;
  readonly number: string | null;
  readonly pinned: string | null;
  readonly calledNow: string | null;
}

interface OfIntent {
  readonly org: string;
  readonly rule: string;
  readonly because: Reason | null;
}

type AlertCode = ReturnType<typeof alert>['code'];

/** The code of an alert, then where, without ids that change: `poller.stuck/main/acme`. */
export type AlertKey<Code extends AlertCode = AlertCode> = Code | `${Code}/${string}`;

/** Something a person should look at. One alert per key, and one for all organizations where more than ten have it. */
export abstract class Alerts {
  /**
   * Equal keys are told once until `resolve`.
   * @param facts fields of the log line, beside the parameters of the alert
   */
  abstract raise<Code extends AlertCode>(
    key: AlertKey<NoInfer<Code>>,
    alert: Reason<Code>,
    facts?: Readonly<Record<string, string | number | boolean | null>>,
  ): void;
  abstract resolve(key: AlertKey): void;
}

/** An alert that was raised and not resolved. */
export interface RaisedAlert {
  readonly key: string;
  readonly reason: Reason;
  /** The organization that it is about; null = none, or several. */
  readonly org: string | null;
  readonly at: Date;
}

/** The alerts of this process; another process knows its own. */
export abstract class RaisedAlerts {
  /** Oldest first. */
  abstract raised(): readonly RaisedAlert[];
  /** Keys that this process resolved since then, whoever raised them, each with the time it was resolved last. */
  abstract resolvedSince(since: Date): ReadonlyMap<string, Date>;
  /** Another process resolved the key: close the alert, unless it was raised later. */
  abstract resolvedElsewhere(key: string, resolvedAt: Date): void;
}
