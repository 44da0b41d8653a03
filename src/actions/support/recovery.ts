import type { Reason } from '../../core/reason.js';
import { say } from '../reasons.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { JsonObject } from '../../core/json.js';
import type { ForgeEvent } from '../../core/event.js';
import type { Secret } from '../../core/secret.js';
import type { Target } from '../../core/target.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';

/** What the pure decision about a call of unknown outcome may see. */
export interface RecoveryFacts<Wanted, Seen> {
  readonly wanted: Wanted;
  /** What the action remembered right before the first call whose outcome is open; null when it remembered nothing. */
  readonly snapshot: JsonObject | null;
  /** What the read told after the settle time; null = this forge offers no such read. */
  readonly seen: Seen | null;
  /** Calls of this intent that may have had their effect; at least 1. */
  readonly sends: number;
  /** Of these, the newest ones in a row that were answered with the same status 500: a permanent error may look so (reliability F4). */
  readonly equalFailures: number;
  /** What the forge said with the newest of them; null = nothing, or it was not answered. */
  readonly said: string | null;
  /** Milliseconds since the newest of them, database time. */
  readonly sentAgoMs: number;
  /** When the first of them was sent. */
  readonly firstSentAt: Date;
}

/** What becomes of an intent whose outcome was unknown. */
export type Verdict =
  /** Our call had its effect. `sure` false = the forge may still take it back (reliability A15): it is read once more after a while. */
  | {
      readonly is: 'done';
      readonly reason: Reason;
      readonly sure: boolean;
      readonly objectId: string | null;
      readonly detail: JsonObject;
    }
  | { readonly is: 'unchanged' | 'conflict' | 'refused'; readonly reason: Reason }
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

/**
 * How one action comes out of an unknown outcome: which read tells it, how long to wait before it, and the decision. The decision is pure.
 * It is one row of the table in docs/guarantees.md.
 */
interface Recovery<Wanted = never, Seen = never> {
  /** The reads it needs; where one is missing, `seen` is null at once and no time is waited. */
  readonly reads: readonly OperationName[];
  /** Used where the forge offers them. */
  readonly mayRead: readonly OperationName[];
  /** `none`: the forge has a key of its own, so a late twin of the call ends as a refusal and nothing need be waited for. */
  readonly settle: 'none' | 'whole';
  read(context: RecoveryContext, wanted: Wanted): Promise<Seen | null>;
  decide(facts: RecoveryFacts<Wanted, Seen>): Verdict;
  /** Absolute values: two rules that want different ones would set them back and forth for ever. */
  readonly absolute?: boolean;
  /** What events tell about its effect. */
  readonly told?: Told;
  /** Keyless operations only: after another settle time, is there more than one of ours? */
  readonly sweep?: Sweep<Wanted, Seen>;
}

/** An effect as it was sent: what an event is compared with. */
export interface SentEffect {
  readonly params: JsonObject;
  /** What the action remembered before the call, and the id of what the call made; null = nothing, or not answered yet. */
  readonly snapshot: JsonObject | null;
  readonly objectId: string | null;
}

/** Objects are named by the parameters that make the natural key. Pure. */
export interface Told {
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

interface Sweep<Wanted, Seen> {
  /** Takes one extra away. */
  readonly removal: OperationName;
  decide(facts: {
    readonly wanted: Wanted;
    readonly snapshot: JsonObject | null;
    readonly seen: Seen;
    readonly mark: string;
    readonly marks: boolean;
  }): Surplus;
  remove(context: RecoveryContext, id: string): Promise<unknown>;
}

/** A recovery under its widest type, for code that treats all alike. */
export interface AnyRecovery extends Omit<Recovery, 'read' | 'decide' | 'sweep'> {
  read(context: RecoveryContext, wanted: never): Promise<unknown>;
  decide(facts: never): Verdict;
  readonly sweep?: {
    readonly removal: OperationName;
    decide(facts: never): Surplus;
    remove(context: RecoveryContext, id: string): Promise<unknown>;
  };
}

export function defineRecovery<Wanted, Seen>(recovery: Recovery<Wanted, Seen>): AnyRecovery {
  return recovery as unknown as AnyRecovery;
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
export function idsIn(snapshot: JsonObject | null): ReadonlySet<string> {
  const ids = snapshot?.['ids'];
  return new Set(Array.isArray(ids) ? ids.map(String) : []);
}

/** Client and names of a repository target. */
export function placeOf(target: Target): { owner: string; repo: string } {
  if (target.kind !== 'repository') throw new Error('not a repository');
  return { owner: target.owner, repo: target.name };
}

/** Number of what the call was to change; null = it was to make one. */
function editedIn(snapshot: JsonObject | null): string | null {
  const id = snapshot?.['edits'];
  return typeof id === 'string' ? id : null;
}

interface Extra {
  readonly id: string;
  readonly description: string;
  readonly used: boolean | null;
}

/** Two of ours: the oldest stays; a younger one goes when it bears our mark and nobody uses it, else a person is told. */
export function decideExtras(
  what: string,
  name: string,
  { snapshot, mark, marks }: { snapshot: RecoveryFacts<unknown, unknown>['snapshot']; mark: string; marks: boolean },
  bearers: readonly Extra[],
): Surplus {
  const known = idsIn(snapshot);
  const fresh = bearers.filter(({ id }) => !known.has(id)).sort((a, b) => compareIds(a.id, b.id));
  if (fresh.length < 2) return { is: 'fine' };
  const younger = fresh.slice(1);
  const removable = younger.filter(({ description, used }) => marks && description.endsWith(mark) && used === false);
  if (removable.length === younger.length) {
    return {
      is: 'remove',
      reason: say('doubled.removed', { what, name, count: fresh.length }),
      ids: removable.map(({ id }) => id),
    };
  }
  return { is: 'alert', reason: say('doubled.there', { what, name, ids: fresh.map(({ id }) => id) }) };
}

export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

interface Bearer {
  readonly id: string;
  /** What is not as wanted; empty = nothing. */
  readonly difference: string;
}

/** Of things that servers make twice under one name: whether the list shows what was sent. */
export function decideNamed(
  what: string,
  name: string,
  { snapshot, seen }: Pick<RecoveryFacts<unknown, { readonly bearers: readonly Bearer[] }>, 'snapshot' | 'seen'>,
): Verdict {
  const about = { what, name };
  if (seen === null) return askPerson(say('found.unlisted', about));
  if (seen.bearers.length === 0) return resend(say('found.absent', about));
  const differs = seen.bearers[0]?.difference ?? '';
  const fit = seen.bearers.find(({ difference }) => difference === '');
  const edited = editedIn(snapshot);
  if (edited !== null) {
    if (fit)
      return fit.id === edited
        ? done(say('found.as-wanted', about), { detail: { edited } })
        : settledAs('unchanged', say('found.there', about));
    return resend(say('found.not-yet', { ...about, differs: [differs] }));
  }
  if (!fit) return settledAs('conflict', say('found.other', { ...about, differs, stays: 'compared' }));
  if (!seen.bearers.some(({ id, difference }) => difference === '' && !idsIn(snapshot).has(id)))
    return settledAs('unchanged', say('found.before-call', about));
  return done(say('found.there', about), { objectId: fit.id });
}

export function decideRemoval(
  what: string,
  name: string,
  { seen }: Pick<RecoveryFacts<unknown, boolean>, 'seen'>,
): Verdict {
  if (seen === null) return askPerson(say('found.unlisted', { what }));
  return seen ? resend(say('found.there', { what, name })) : done(say('found.absent', { what, name }));
}
