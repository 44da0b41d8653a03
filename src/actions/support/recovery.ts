import type { Reason } from '../../core/reason.js';
import { say, type About, type UNREADABLE } from '../reasons.js';
import type { EventKind } from '../../core/event-kinds.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { ForgeEvent } from '../../core/event.js';
import type { Secret } from '../../core/secret.js';
import type { Target } from '../../core/target.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';

/** A call of this very intent of which nobody knows whether it had its effect. */
export interface OpenCall {
  /** What was remembered right before the first such call; null when nothing was. */
  readonly snapshot: JsonObject | null;
  /** How many there are; at least 1. */
  readonly sends: number;
  /** Of these, the newest ones in a row that were answered with the same status 500: a permanent error may look so. */
  readonly equalFailures: number;
  /** What the forge said with the newest of them; null = nothing, or it was not answered. */
  readonly message: string | null;
  /** Milliseconds since the newest of them, database time. */
  readonly sentAgoMs: number;
  /** When the first of them was sent. */
  readonly firstSentAt: Date;
}

/** What may be said of an action's way out of an unknown outcome beyond what `look` and `compare` say: a row of the table in docs/guarantees.md. */
export interface Recovery<Wanted, Seen> {
  /** `none`: the forge has a key of its own, so a late twin of the call ends as a refusal and nothing need be waited for. Default: the settle time. */
  readonly settle?: 'none';
  /** Reads that tell the outcome, where others than those without which `look` tells nothing. */
  readonly reads?: readonly OperationName[];
  /** What follows where nothing can be seen: a person decides, it is sent again, or it ends `unconfirmed`. Default: `nothing`, a person. */
  readonly unread?: keyof typeof UNREADABLE | ((wanted: Wanted, call: OpenCall) => keyof typeof UNREADABLE);
  /** Absolute values: two rules that want different ones would set them back and forth for ever. */
  readonly absolute?: boolean;
  /** Which events show, repeat or undo its effect. */
  readonly matcher?: EventMatcher;
  /** Keyless operations only: after another settle time, is there more than one of ours? */
  readonly duplicates?: Duplicates<Wanted, Seen>;
}

interface Duplicates<Wanted, Seen> {
  /** Takes one away. */
  readonly removal: OperationName;
  /** Objects of the name. @param mark what ours bear; null = marks are off */
  list(seen: Seen, wanted: Wanted, mark: string | null): readonly Duplicate[];
  /** Absent = never taken away by itself. */
  remove?(context: RecoveryContext, id: string): Promise<unknown>;
}

export interface Duplicate {
  readonly id: string;
  /** It is ours for sure, and nobody uses it. */
  readonly isRemovable: boolean;
}

/** What becomes of an intent whose outcome was unknown. */
export type Verdict =
  /** Our call had its effect. `sure` false = the forge may still take it back: it is read once more after a while. */
  | {
      readonly is: 'done';
      readonly reason: Reason;
      readonly sure: boolean;
      readonly objectId: string | null;
      readonly detail: JsonObject;
    }
  | { readonly is: 'unchanged' | 'conflict' | 'refused'; readonly reason: Reason }
  /** Nothing can be told, and it is not worth asking a person: it counts as done, and never happens twice. */
  | { readonly is: 'unconfirmed'; readonly reason: Reason }
  /** The call had no effect for sure, or making it again is harmless. */
  | { readonly is: 'resend'; readonly reason: Reason }
  /** Nothing can be told: a person decides. */
  | { readonly is: 'person'; readonly reason: Reason };

/** What the look after another settle time found (operations without a key of their own). */
export type Surplus =
  | { readonly is: 'fine' }
  /** Two of ours: this one carries our mark and nobody uses it. */
  | { readonly is: 'remove'; readonly reason: Reason; readonly ids: readonly string[] }
  | { readonly is: 'alert'; readonly reason: Reason };

export interface RecoveryContext {
  readonly target: Target;
  readonly forge: Partial<ForgeClient>;
  /** Of the first open call, as in the facts. */
  readonly snapshot: JsonObject | null;
  hashOf(value: Secret | string): string;
}

/** An effect as it was sent: what an event is compared with. */
export interface SentEffect {
  readonly params: JsonObject;
  /** What the action remembered before the call, and the id of what the call made; null = nothing, or not answered yet. */
  readonly snapshot: JsonObject | null;
  readonly objectId: string | null;
}

/** Holds events against an effect. Objects are named by the parameters that make the natural key. Pure. */
export interface EventMatcher {
  /** Objects that the event shows to be there, or that it tells to have been changed. */
  shownBy?(event: ForgeEvent): readonly JsonObject[];
  /** Kinds of event that its effect raises and that name its object: of these the bot knows which rule is behind them. They need `isEcho`. */
  readonly echoes?: readonly EventKind[];
  /** Whether this effect raised the event, one of our own acts of a kind in `echoes`. The caller compares the times. */
  isEcho?(event: ForgeEvent, sent: SentEffect): boolean;
  /** Whether what it shows is what was wanted; default true. */
  fits?(event: ForgeEvent, params: JsonObject): boolean;
  /** True = it settles an unknown outcome whoever did it, since only one object of this name is wanted. Default: our own acts alone. */
  readonly byAnybody?: boolean;
  /** Objects that somebody took away or changed again. */
  undoneBy?(event: ForgeEvent): readonly JsonObject[];
  /** An event that tells no time of its own and was stored so shortly after our call may tell what was before it, in milliseconds; default 0. */
  readonly slackMs?: number;
  /** Whether that undoes what was wanted; default true. */
  isUndo?(event: ForgeEvent, params: JsonObject): boolean;
}

/**
 * Of objects that issues and pull requests show whole, known by their names: whoever made one that is as wanted, it is there.
 * @param differenceOf what is shown, with the wanted values where it shows none; empty = as wanted
 */
export function shownWithIssues(
  field: 'labels' | 'milestone',
  key: 'name' | 'title',
  differenceOf: (ofEvent: JsonObject, wanted: JsonObject) => string,
): EventMatcher {
  const shownIn = ({ data }: ForgeEvent): JsonObject[] =>
    ['issue', 'pull_request'].flatMap((what) => {
      const value = (data[what] as JsonObject | undefined)?.[field] ?? null;
      return (Array.isArray(value) ? value : [value]).filter(isJsonObject);
    });
  return {
    shownBy: (event) => shownIn(event).map((one) => ({ [key]: one[key] ?? null })),
    fits: (event, params) =>
      shownIn(event).some((one) => one[key] === params[key] && differenceOf({ ...params, ...one }, params) === ''),
    byAnybody: true,
  };
}

export function done(
  reason: Reason,
  {
    sure = true,
    objectId = null,
    detail = {},
  }: { sure?: boolean; objectId?: string | null | undefined; detail?: JsonObject } = {},
): Verdict {
  return { is: 'done', reason, sure, objectId, detail };
}

export function settledAs(is: 'unchanged' | 'conflict' | 'refused', reason: Reason): Verdict {
  return { is, reason };
}

export function resend(reason: Reason): Verdict {
  return { is: 'resend', reason };
}

export function askPerson(reason: Reason): Verdict {
  return { is: 'person', reason };
}

/** Ids that a snapshot lists. */
export function idsIn(snapshot: JsonObject | null | undefined): ReadonlySet<string> {
  const ids = snapshot?.['ids'];
  return new Set(Array.isArray(ids) ? ids.map(String) : []);
}

/** Client and names of a repository target. */
export function placeOf(target: Target): { owner: string; repo: string } {
  if (target.kind !== 'repository') throw new Error('not a repository');
  return { owner: target.owner, repo: target.name };
}

/** Two of ours: the oldest stays; younger ones go where each of them may, else a person is told. */
export function decideDuplicates(about: About, snapshot: JsonObject | null, bearers: readonly Duplicate[]): Surplus {
  const before = idsIn(snapshot);
  const fresh = bearers.filter(({ id }) => !before.has(id)).sort((a, b) => compareIds(a.id, b.id));
  const younger = fresh.slice(1);
  if (younger.length === 0) return { is: 'fine' };
  const named = { what: about.what, name: about.name ?? '' };
  const ids = younger.map(({ id }) => id);
  return younger.every(({ isRemovable }) => isRemovable)
    ? { is: 'remove', reason: say('doubled.removed', { ...named, count: fresh.length }), ids }
    : { is: 'alert', reason: say('doubled.there', { ...named, ids: fresh.map(({ id }) => id) }) };
}

export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
