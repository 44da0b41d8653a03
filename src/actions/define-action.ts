import type { ParamSpecs, ParamsOf } from './support/params.js';
import type { About } from './reasons.js';
import type { OpenCall, Recovery } from './support/recovery.js';
import type { EventKind } from '../core/event-kinds.js';
import type { Json, JsonObject } from '../core/json.js';
import type { MailSettings, Message } from '../core/message.js';
import type { Reason } from '../core/reason.js';
import type { NeededRight } from '../core/rights.js';
import type { IntentState } from '../core/states.js';
import type {
  EffectFacts,
  LaterStep,
  OperatorHosts,
  Unfit,
  WrittenInputs as WrittenParams,
} from '../rules/language/catalogue.js';
import type { Secret } from '../core/secret.js';
import type { Target } from '../core/target.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { OperationName } from '../forge/operations.js';

export type { OperatorHosts, WrittenInputs as WrittenParams } from '../rules/language/catalogue.js';

type TargetKind = Target['kind'];

/** The forge as one action sees it: what it must have, and what it uses where the forge offers it. */
type ActionForge<Must extends OperationName, May extends OperationName> = Pick<ForgeClient, Must> &
  Partial<Pick<ForgeClient, May>>;

/** What became of an earlier step of the same run and item. */
export interface EarlierStep {
  readonly action: string;
  readonly state: IntentState;
  /** Of its reason; null = it has none. */
  readonly code: string | null;
  /** Of its reason; left out where it is only foreseen. */
  readonly params?: JsonObject;
}

/** An intent of the same action in the same order of effects. */
export interface OpenWish {
  readonly params: JsonObject;
  /** As `ActionContext.noted`. */
  readonly noted: JsonObject;
  readonly isPaused: boolean;
}

/** A newer wish of the same effect key that wants something else. */
export interface OvertakingWish {
  readonly rule: string;
  readonly action: string;
}

/** The newest settled intent of the same effect key: the memory where the forge can tell nothing. */
export interface Memory {
  /** Its parameters equal ours, sealed values by their hash, secrets by their name. */
  readonly isSameWish: boolean;
  /** They themselves, as they were planned: secrets as references, sealed values sealed. */
  readonly params: JsonObject;
  /** What it reported then. */
  readonly detail: JsonObject;
}

export interface ActionContext<Kind extends TargetKind, Must extends OperationName, May extends OperationName> {
  readonly target: Extract<Target, { kind: Kind }>;
  readonly forge: ActionForge<Must, May>;
  /** Null when no intent of this effect key ever ended done or unchanged. */
  recall(): Promise<Memory | null>;
  /** What became of the earlier steps of this run that are about the same item, in order. */
  earlierSteps(): Promise<readonly EarlierStep[]>;
  /** What an earlier look for this very intent noted (`notYet`); empty = nothing. */
  readonly noted: JsonObject;
  /** Live intents that have not ended, of the same action and order of effects, planned before this one, in their order. */
  openBefore(): Promise<readonly OpenWish[]>;
  /** What was fulfilled before this one, which must end: told to those that noted something, and so may have something to tell; others are cancelled. Null = nothing. */
  readonly overtakenBy: OvertakingWish | null;
  /** By the clock of this process; null after a lost answer, when only the forge is asked. */
  readonly now: Date | null;
  /** Numbers of the objects that intents of this effect key made: what we own. Empty where the journal tells of none. */
  made(): Promise<ReadonlySet<string>>;
  /**
   * When an effect of this key was made last, where a rule wants it once more: what is gone since then, a person undid. Null when it never was, for
   * policies, which repair (unless they say `respect_undo: true`), and for what a person asked for by a comment or let go on.
   */
  lastMade(): Promise<Date | null>;
  /** A person asked for it by a comment, or let it go on after it had ended since its effect was undone. */
  readonly isAsked: boolean;
  /** Whether one of the bot's accounts is this user; null = not known. */
  isOurs(user: { readonly id: string; readonly login: string }): boolean | null;
  /** HMAC of a value under the key of the config: the only form in which a secret may be kept. */
  hashOf(value: Secret | string): string;
  /** `orgs[].mirror_hosts`; empty = none. */
  readonly mirrorHosts: readonly string[];
  /** `orgs[].notify_hosts`; empty = none. */
  readonly notifyHosts: readonly string[];
  /** `orgs[].mail`; null = none. */
  readonly mail: MailSettings | null;
  /** `orgs[].limits.approve_and_merge`: what the bot itself approved may be merged. */
  readonly mergesOwnApprovals: boolean;
  /** Names this effect of this cause, in each try alike. */
  readonly key: string;
  /** The one write of an action that `sends`. @param addresses of the host, which alone may be connected to @returns as `Messenger.send` */
  send(message: Message, addresses: readonly string[] | null): Promise<number>;
  /** What a name resolves to now, for this machine; empty = it does not resolve here. */
  addressesOf(host: string): Promise<readonly string[]>;
  /**
   * Keep what a comparison after a lost answer will want, right before the write: the list of what is there already, or the values of before.
   * Never a secret: its hash.
   */
  remember(snapshot: JsonObject): void;
  /** Earlier calls of this very intent, however they ended. */
  readonly earlierCalls: number;
  /** Earlier calls of this very intent that may have had their effect; above 0 an "it exists already" of the forge counts as ours. */
  readonly openCalls: number;
  /** What to put at the end of a description, for a call that is made again; null = nothing. */
  readonly mark: string | null;
}

/** Where a repository target is, as operations take it. */
type Place<Kind extends TargetKind> = Kind extends 'repository'
  ? { readonly owner: string; readonly repo: string }
  : null;

/** What `look` may ask: the forge, and the journal where the forge does not tell. After a lost answer the journal tells nothing. */
export interface LookContext<
  Kind extends TargetKind,
  Must extends OperationName,
  May extends OperationName,
  Looks extends OperationName,
  After extends OperationName,
> extends Pick<
  ActionContext<Kind, Must, May>,
  | 'target'
  | 'recall'
  | 'earlierSteps'
  | 'noted'
  | 'openBefore'
  | 'overtakenBy'
  | 'now'
  | 'made'
  | 'lastMade'
  | 'isAsked'
  | 'isOurs'
  | 'hashOf'
  | 'addressesOf'
  | 'notifyHosts'
  | 'mail'
  | 'mergesOwnApprovals'
> {
  readonly place: Place<Kind>;
  readonly forge: ActionForge<Must | Looks, May | After>;
  /** Null = nothing was called yet, or all of it was answered. */
  readonly call: OpenCall | null;
}

/** What the comparison stands on. */
export interface CompareFacts<Wanted, Seen, Kind extends TargetKind> {
  readonly wanted: Wanted;
  readonly seen: Seen;
  readonly target: Extract<Target, { kind: Kind }>;
  readonly call: OpenCall | null;
  /** Only where nothing was seen: the newest settled wish of the same effect key, which was another one. */
  readonly memory: Memory | null;
  /** The forge says that it is there already, and an earlier call of ours had no answer. */
  readonly isAnsweredLate: boolean;
}

interface WriteContext<Kind extends TargetKind, Must extends OperationName, May extends OperationName> extends Pick<
  ActionContext<Kind, Must, May>,
  'target' | 'forge' | 'hashOf' | 'mark' | 'earlierCalls' | 'key' | 'send'
> {
  readonly place: Place<Kind>;
}

/**
 * One thing a rule can want: look, compare, write. `look-compare-write.ts` makes all else of these three: doing it, rehearsing it, and coming out of an
 * unknown outcome. None of them asks whether this is a dry run or retries, and each lets every ForgeError pass that it does not understand.
 */
export interface ActionDefinition<
  Name extends string = string,
  Kind extends TargetKind = TargetKind,
  Specs extends ParamSpecs = ParamSpecs,
  Must extends OperationName = OperationName,
  May extends OperationName = OperationName,
  Looks extends OperationName = never,
  After extends OperationName = never,
  Seen = unknown,
  Change = unknown,
> extends ActionWords<Name, Kind, Specs, Must, May> {
  /** Of `whereOffered`, those without which `look` tells nothing: where one is missing, nothing is seen. */
  readonly looksBy?: readonly Looks[];
  /** Further reads that only a lost answer needs. */
  readonly readsAfterCall?: readonly After[];
  /** Names the object in sentences. */
  about(wanted: ParamsOf<Specs>): About;
  /** Where the forge has a key of its own: what its refusal of a second one means when nothing is to be seen of the first. `words`: its own; null = none. */
  readonly whenTaken?: (wanted: ParamsOf<Specs>, words: string | null) => Reason;
  /** The status of that refusal. Default: 409. */
  readonly takenBy?: 422;
  /** How it comes out of an unknown outcome, beyond look and compare. */
  readonly recover?: Recovery<ParamsOf<Specs>, NonNullable<Seen>>;
  /** The reads. @returns undefined = this forge does not tell */
  look(context: LookContext<Kind, Must, May, Looks, After>, wanted: ParamsOf<Specs>): Promise<Seen>;
  /** Pure. Also asked after a lost answer, with the call, and never about nothing then. */
  compare(
    facts: CompareFacts<ParamsOf<Specs>, [Looks] extends [never] ? Seen : Seen | undefined, Kind>,
  ): Decision<Change>;
  /** The one call, and what its answer says. */
  write(context: WriteContext<Kind, Must, May>, wanted: ParamsOf<Specs>, change: Change): Promise<Outcome>;
}

/** What rules, docs and the pipeline must know of an action. */
interface ActionWords<
  Name extends string = string,
  Kind extends TargetKind = TargetKind,
  Specs extends ParamSpecs = ParamSpecs,
  Must extends OperationName = OperationName,
  May extends OperationName = OperationName,
> {
  /** `noun.verb`, as rules write it. */
  readonly name: Name;
  readonly summary: string;
  readonly target: Kind;
  readonly params: Specs;
  /** Operations without which the action is useless; the first one is its write, unless it `sends`. */
  readonly operations: readonly Must[];
  /** Of `whereOffered`, those that it cannot do without where this parameter is given: asked when rules are loaded. */
  readonly requiresWith?: { readonly param: keyof Specs & string; readonly operations: readonly May[] };
  /** Further writes that are steps on the way: after one that was answered the intent goes on (`notYet`), and its end comes with a later look. */
  readonly onTheWay?: readonly OperationName[];
  /** Its write goes to a service outside of the forge, by `send`. */
  readonly sends?: true;
  /** The operation in its effect key, where that is not its own write: one that takes away what another one makes. */
  readonly sharesKeyWith?: OperationName;
  /** Further operations, used where the forge offers them. */
  readonly whereOffered: readonly May[];
  /** Off unless the operator grants it to the organization. */
  readonly power?:
    | 'backport'
    | 'branch.delete'
    | 'protection.ensure'
    | 'repo.create_for_user'
    | 'repository_settings.ensure'
    | 'review.approve'
    | 'topics.ensure'
    | 'user_settings.update';
  /**
   * Further steps of the verb, in order: actions with the same parameters, which rules do not write. Each is an intent of its own, once the steps before
   * it ended well, and reads by `earlierSteps` what became of them. `where`: only where this parameter is given.
   */
  readonly laterSteps?: ReadonlyArray<{ readonly action: string; readonly where?: keyof Specs & string }>;
  /** What somebody who asks for it by a command must be allowed to do. */
  readonly right: NeededRight;
  /** Where an event wants it, the forge must confirm that the event happened: the word of a delivery alone is not enough. */
  readonly asksAct?: true;
  /**
   * Kinds of event after which an intent that answered `notYet` is looked at again. Such an action reads all that its cause told by itself: what an event
   * said when the wait began does not stand against it.
   */
  readonly awaits?: readonly EventKind[];
  /** Parameter that names the object. */
  readonly naturalKey: keyof Specs & string;
  /**
   * Parameters that together are the item key of `for_each` when no `key` is given: for an object whose name alone does not tell it from
   * others, such as a comment of an issue. Default: the natural key.
   */
  readonly itemBy?: ReadonlyArray<keyof Specs & string>;
  /** The natural key as the forge tells two objects apart; from parameters that are not resolved yet (secrets as references). */
  readonly keyOf: (params: JsonObject) => string;
  /** The object of the target that it writes (`support/objects.ts`), from the same parameters; null = only its effect key says what it writes. */
  readonly object: (params: JsonObject) => string | null;
  /** The other objects that it needs: labels, milestones, branches, tags. */
  readonly names: (params: JsonObject) => readonly string[];
  /**
   * It sets a value that another wish of the same effect key sets otherwise: an older wish must not overwrite a newer one. Default: whether its
   * recovery says that its values are absolute.
   */
  readonly overwrites?: true;
  /** Why these parameters can never work together, as far as they are known: asked when rules are loaded, and again before anything is read. */
  readonly unfit?: (inputs: WrittenParams, operator: OperatorHosts) => Unfit | null;
  /** What works when it runs, and says nothing or two things: asked when rules are loaded. */
  readonly unclear?: (inputs: WrittenParams) => Unfit | null;
  /** Kinds of event that its effect makes the forge tell. */
  readonly raises: readonly EventKind[];
  /** What else the checks of rule files must know of its effect. */
  readonly effect?: EffectFacts;
  readonly example: JsonObject;
}

/** Keeps the literal types, so that calling an operation that is not listed does not compile. */
export function defineAction<
  const Name extends string,
  const Kind extends TargetKind,
  const Specs extends ParamSpecs,
  const Must extends OperationName,
  Seen,
  Change,
  const May extends OperationName = never,
  const Looks extends OperationName = never,
  const After extends OperationName = never,
>(
  action: ActionDefinition<Name, Kind, Specs, Must, May, Looks, After, Seen, Change>,
): ActionDefinition<Name, Kind, Specs, Must, May, Looks, After, Seen, Change> {
  return action;
}

type AnyWords = Omit<ActionWords, 'naturalKey' | 'itemBy' | 'laterSteps' | 'requiresWith'> & {
  readonly naturalKey: string;
  readonly requiresWith?: { readonly param: string; readonly operations: readonly OperationName[] };
  readonly laterSteps?: readonly LaterStep[];
  readonly itemBy?: readonly string[];
};

/** An action under its widest type, for code that treats all alike. */
export type AnyAction = AnyWords &
  Pick<ActionDefinition, 'looksBy' | 'readsAfterCall' | 'takenBy'> & {
    readonly recover?: Recovery<never, never>;
    about(wanted: never): About;
    whenTaken?(wanted: never, words: string | null): Reason;
    look(context: LookContext<never, never, never, never, never>, wanted: never): Promise<unknown>;
    compare(facts: CompareFacts<never, never, never>): Decision<unknown>;
    write(context: WriteContext<never, never, never>, wanted: never, change: never): Promise<Outcome>;
  };

/** Text of a parameter that is not resolved yet. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value);
}

/** What an action reports. `changed` = its one write was made; `detail` is kept with the intent and is the memory where nothing can be read. */
export type Outcome =
  | {
      readonly kind: 'changed';
      readonly reason: Reason;
      readonly objectId: string | null;
      readonly detail: JsonObject;
    }
  | {
      readonly kind: 'unchanged' | 'conflict' | 'refused' | 'undone' | 'not-yet';
      readonly reason: Reason;
      readonly detail: JsonObject;
      /** Of `not-yet`: time to the next look; absent = by how long it waits already. */
      readonly againInMs?: number;
    };

type NoChange = Exclude<Outcome, { kind: 'changed' }>;

/** What comparing says. Of the other kinds of outcome it may say each: they end the intent before and after a lost answer alike. */
export type Decision<Change> =
  | NoChange
  /**
   * It is as wanted: nothing to do, or, after a lost answer, done by our call. `ids`: the objects that are so. Those that were there before the call are
   * not of the call. `isSure` false = the forge may still take it back, so it is looked at once more after a while.
   */
  | {
      readonly kind: 'there';
      readonly reason: Reason;
      readonly detail: JsonObject;
      readonly ids: readonly string[];
      readonly isSure: boolean;
    }
  /**
   * Write this. `makes`: it makes an object that a person may have taken away: where no event tells that, the journal does, and the object stays away.
   * `edits`: the object that it changes; `differs`: in what. `remember`: kept with the call, to be compared with after a lost answer: `ids` of what was
   * there, `before` = the values that it changes.
   */
  | {
      readonly kind: 'write';
      readonly change: Change;
      readonly makes?: true;
      readonly edits?: string;
      readonly differs?: string;
      readonly remember?: JsonObject;
    }
  /** After a lost answer: nothing can be told, and a person decides. */
  | { readonly kind: 'person'; readonly reason: Reason };

export function there(
  reason: Reason,
  { detail = {}, ids = [], isSure = true }: { detail?: JsonObject; ids?: readonly string[]; isSure?: boolean } = {},
): Extract<Decision<never>, { kind: 'there' }> {
  return { kind: 'there', reason, detail, ids, isSure };
}

export function toWrite<Change>(
  change: Change,
  how: Omit<Extract<Decision<never>, { kind: 'write' }>, 'kind' | 'change'> = {},
): Decision<Change> {
  return { kind: 'write', change, ...how };
}

export function changed(
  reason: Reason,
  { objectId = null, detail = {} }: { objectId?: string | null | undefined; detail?: JsonObject } = {},
): Outcome {
  return { kind: 'changed', reason, objectId, detail };
}

/** What is wanted is there already, whoever made it. */
export function unchanged(reason: Reason, detail: JsonObject = {}): NoChange {
  return { kind: 'unchanged', reason, detail };
}

/** Something is there that is not what is wanted, and this action may not or cannot change it: hands off. */
export function conflict(reason: Reason, detail: JsonObject = {}): NoChange {
  return { kind: 'conflict', reason, detail };
}

/** It cannot be done as asked; asking again without a change of rule, config or forge is useless. */
export function refused(reason: Reason): NoChange {
  return { kind: 'refused', reason, detail: {} };
}

/**
 * Something that others do is missing still (an approval, a check): looked at again after the events of `awaits` and from time to time. After a write it says
 * that this was a step on the way: each look makes at most one, and the effect is done with the last.
 * @param note what the next looks for this intent are told (`noted`). Without one the intent is given up after three days; what notes something ends by itself
 */
export function notYet(reason: Reason, note: JsonObject = {}, againInMs?: number): NoChange {
  return { kind: 'not-yet', reason, detail: note, ...(againInMs === undefined ? {} : { againInMs }) };
}

/** We made it before, and a person took it away: not made again until a person says so. */
export function undone(reason: Reason): NoChange {
  return { kind: 'undone', reason, detail: { code: UNDONE } };
}

/** Code in the result of an intent that was suppressed since its effect was undone. */
export const UNDONE = 'effect.undone';
