import { isJsonObject, type JsonObject } from '../core/json.js';
import { isRefused } from '../forge/forge-client.js';
import { isWrite, type OperationName } from '../forge/operations.js';
import {
  conflict,
  refused,
  unchanged,
  undone,
  type ActionContext,
  type AnyAction,
  type CompareFacts,
  type Decision,
  type LookContext,
  type Outcome,
} from './define-action.js';
import { type OpenCall, askPerson, done, idsIn, resend, settledAs, type Verdict } from './support/recovery.js';
import { say, type About, type UNREADABLE } from './reasons.js';
import { isSameSetting, emptyLike } from './support/compare.js';
import { writtenParamsOf } from './support/unfit.js';
import { ForgeError } from '../core/errors.js';
import type { Reason } from '../core/reason.js';
import type { Target } from '../core/target.js';

/**
 * All that is made of an action's look, compare and write: doing it (live, or up to the write in a dry run and a rehearsal), and the way out of an unknown
 * outcome, which looks and compares once more, with what was remembered before the call.
 */

type AnyContext = ActionContext<never, never, never>;
type AnyLook = LookContext<never, never, never, never, never>;
type Facts = Pick<CompareFacts<unknown, unknown, never>, 'call' | 'memory' | 'isAnsweredLate'>;

/** Look, compare, and write at most once. */
export async function ensure(action: AnyAction, context: AnyContext, params: never): Promise<Outcome> {
  const wanted: Readonly<Record<string, unknown>> = params;
  const { mirrorHosts, notifyHosts } = context;
  const wrong = action.unfit?.(writtenParamsOf(wanted), { mirrorHosts, notifyHosts });
  if (wrong) return refused(wrong.reason);
  const about = action.about(params);
  const seen = await look(action, lookOf(context, null), params);
  const memory = seen === undefined ? await context.recall() : null;
  if (memory?.isSameWish) return unchanged(say('found.made-before', about), memory.detail);
  const decision = compare(action, context, params, seen, { ...NOTHING_OPEN, memory });
  if (decision.kind !== 'write') return outcomeOf(decision);
  if (memory && decision.makes) return conflict(say('found.made-otherwise', about), memory.detail);
  // Where no event tells that people took it away, the journal tells that it was there.
  const showsUndo = action.recover?.matcher?.undoneBy !== undefined;
  if (seen !== undefined && decision.makes && !showsUndo && (await context.lastMade()))
    return undone(say('found.undone', about));
  if (decision.remember) context.remember(decision.remember);
  try {
    return await action.write({ ...context, place: placeOf(context) } as never, params, decision.change as never);
  } catch (error) {
    if (!action.whenTaken || !isRefused(error, action.takenBy ?? 409)) throw error;
    return judgeTaken(action, context, params, action.whenTaken(params, error.facts.forgeMessage || null));
  }
}

/** The forge refuses a second one: whose is the first? */
async function judgeTaken(action: AnyAction, context: AnyContext, wanted: never, whenUnseen: Reason): Promise<Outcome> {
  const isAnsweredLate = context.openCalls > 0;
  const seen = await look(action, lookOf(context, null), wanted);
  if (seen !== undefined) {
    const decision = compare(action, context, wanted, seen, { ...NOTHING_OPEN, isAnsweredLate });
    if (decision.kind !== 'write') return outcomeOf(decision);
  } else if (isAnsweredLate) return unchanged(say('found.answered-late', action.about(wanted)));
  return conflict(whenUnseen);
}

/** What an action sees after a call whose outcome is unknown, and what becomes of the intent by that. */
export async function judgeOpenCall(
  action: AnyAction,
  context: Pick<AnyContext, 'target' | 'forge' | 'hashOf'>,
  wanted: never,
  call: OpenCall,
): Promise<Verdict> {
  return verdictOf(action, context, wanted, await lookAfter(action, context, wanted, call), call);
}

/** What is there after calls of unknown outcome; undefined = the forge does not tell. */
export function lookAfter(
  action: AnyAction,
  context: Pick<AnyContext, 'target' | 'forge' | 'hashOf'>,
  wanted: never,
  call: OpenCall,
): Promise<unknown> {
  return look(action, lookOf({ ...NO_JOURNAL, ...context }, call), wanted);
}

/** Pure: one row of the table in docs/guarantees.md. */
export function verdictOf(
  action: AnyAction,
  { target }: Pick<AnyContext, 'target'>,
  wanted: never,
  seen: unknown,
  call: OpenCall,
): Verdict {
  const about = action.about(wanted);
  if (seen === undefined) return verdictUnread(action, about, wanted, call);
  const decision = compare(action, { target }, wanted, seen, { ...NOTHING_OPEN, call });
  switch (decision.kind) {
    case 'there':
      return verdictThere(decision, about, call);
    case 'write':
      return verdictAbsent(decision, about, call);
    case 'person':
      return askPerson(decision.reason);
    // What is waited for says nothing about the call; and what a person undid is told by the journal.
    case 'not-yet':
    case 'undone':
      return resend(decision.reason);
    default:
      return settledAs(decision.kind, decision.reason);
  }
}

/** Words of `unread` after which the call is made again. */
const HARMLESS: ReadonlySet<keyof typeof UNREADABLE> = new Set([
  'harmless',
  'harmless-draft',
  'refused-twice',
  'again',
]);

function verdictUnread({ recover }: AnyAction, about: About, wanted: never, call: OpenCall): Verdict {
  const unread = recover?.unread ?? 'nothing';
  const then = typeof unread === 'function' ? unread(wanted, call) : unread;
  if (then === 'unconfirmed') return { is: 'unconfirmed', reason: say('notify.unconfirmed') };
  const reason = say('found.unreadable', { ...about, then });
  return HARMLESS.has(then) ? resend(reason) : askPerson(reason);
}

/** It is as wanted. What was there before the call, or is not the object that the call was to change, is not of the call. */
function verdictThere(
  { reason, ids, isSure, detail }: Extract<Decision<unknown>, { kind: 'there' }>,
  about: About,
  { snapshot }: OpenCall,
): Verdict {
  const [id] = ids;
  if (id === undefined) return done(reason, { sure: isSure, detail });
  const edited = editedIn(snapshot);
  if (edited !== null)
    return ids.includes(edited) ? done(reason, { detail: { ...detail, edited } }) : settledAs('unchanged', reason);
  if (ids.every((one) => idsIn(snapshot).has(one))) return settledAs('unchanged', say('found.before-call', about));
  return done(reason, { sure: isSure, objectId: id, detail });
}

/** It is not as wanted: as before the call, or somebody else changed it. */
function verdictAbsent(
  { makes, edits, differs, remember = {} }: Extract<Decision<unknown>, { kind: 'write' }>,
  about: About,
  { snapshot }: OpenCall,
): Verdict {
  const bearsName = edits !== undefined && idsIn(remember).has(edits);
  if (bearsName && editedIn(snapshot) === null)
    return settledAs('conflict', say('found.other', { ...about, differs: differs ?? '', stays: 'compared' }));
  const third = changedSince(snapshot, remember);
  if (third.length > 0) return settledAs('conflict', say('found.changed-meanwhile', { ...about, differs: third }));
  if (makes) return resend(say('found.absent', about));
  return resend(say('found.not-yet', { ...about, ...(differs === undefined ? {} : { differs: [differs] }) }));
}

/** Values that are to be changed and are not what they were before the call. */
function changedSince(snapshot: JsonObject | null, { before: now }: JsonObject): string[] {
  const before = snapshot?.['before'];
  if (!isJsonObject(before) || !isJsonObject(now)) return [];
  return Object.entries(now).flatMap(([name, value]) =>
    isSameSetting(name, before[name] ?? emptyLike(value), value) ? [] : [name],
  );
}

/** Number of what the call was to change; null = it was to make one. */
function editedIn(snapshot: JsonObject | null): string | null {
  const id = snapshot?.['edits'];
  return typeof id === 'string' ? id : null;
}

/** Reads without which nothing tells the outcome of a call. */
export function readsOf(action: AnyAction): readonly OperationName[] {
  return action.recover?.reads ?? action.looksBy ?? action.operations.filter((name) => !isWrite(name));
}

/** Operations that the way out of an unknown outcome may use. */
export function operationsAfterCall(action: AnyAction): OperationName[] {
  const { operations, whereOffered, readsAfterCall = [], recover } = action;
  const all = [...operations, ...whereOffered, ...readsAfterCall].filter((name) => !isWrite(name));
  return recover?.duplicates ? [...all, recover.duplicates.removal] : all;
}

/** Undefined where the forge does not offer a read without which nothing is seen. */
async function look(action: AnyAction, context: AnyLook, wanted: never): Promise<unknown> {
  const reads = context.call === null ? (action.looksBy ?? []) : readsOf(action);
  const mayBeBlind = action.looksBy !== undefined || context.call !== null;
  const forge: Readonly<Record<string, unknown>> = context.forge;
  if (mayBeBlind && reads.some((name) => forge[name] === undefined)) return undefined;
  try {
    return await action.look(context, wanted);
  } catch (error) {
    if (mayBeBlind && error instanceof ForgeError && error.kind === 'not-offered') return undefined;
    throw error;
  }
}

function compare(
  action: AnyAction,
  { target }: Pick<AnyContext, 'target'>,
  wanted: never,
  seen: unknown,
  facts: Facts,
): Decision<unknown> {
  return action.compare({ ...facts, target, wanted, seen: seen as never });
}

const NOTHING_OPEN: Facts = { call: null, memory: null, isAnsweredLate: false };

/** After a lost answer only the forge is asked. */
const NO_JOURNAL = {
  recall: async () => null,
  earlierSteps: async () => [],
  noted: {},
  openBefore: async () => [],
  overtakenBy: null,
  now: null,
  made: async () => new Set<string>(),
  lastMade: async () => null,
  isAsked: false,
  isOurs: () => null,
  addressesOf: async () => [],
  notifyHosts: [],
  mail: null,
  mergesOwnApprovals: true,
};

function lookOf(context: Omit<AnyLook, 'place' | 'call'>, call: OpenCall | null): AnyLook {
  return { ...context, place: placeOf(context) as never, call };
}

function placeOf(context: { readonly target: unknown }): { owner: string; repo: string } | null {
  const target = context.target as Target;
  return target.kind === 'repository' ? { owner: target.owner, repo: target.name } : null;
}

function outcomeOf(decision: Exclude<Decision<unknown>, { kind: 'write' }>): Outcome {
  if (decision.kind === 'there') return unchanged(decision.reason, decision.detail);
  return decision.kind === 'person' ? conflict(decision.reason) : decision;
}
