import { isDeepStrictEqual } from 'node:util';
import type { AnyAction } from '../../actions/define-action.js';
import { orMissing, whereAllowed, type ForgeClient } from '../../forge/forge-client.js';
import { type Alerts, alert } from '../../core/alerts.js';
import type { Clock } from '../../core/clock.js';
import { isSealed } from '../../core/encryptor.js';
import type { ForgeEvent } from '../../core/event.js';
import { type Json, type JsonObject, isJsonObject } from '../../core/json.js';
import type { Issue } from '../../core/objects/tracker.js';
import type { Reason } from '../../core/reason.js';
import { type LiveDifference, intentReason } from '../../core/run-reasons.js';
import type { Intent } from '../../core/run.js';
import type { Target } from '../../core/target.js';
import type { Claim, JournalStore } from '../journal-store.port.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { Ending } from './settle.js';

interface ObjectionDeps {
  readonly journal: Pick<JournalStore, 'pause'>;
  readonly recovery: Pick<RecoveryStore, 'undoOf' | 'sentOfEffects'>;
  readonly clock: Clock;
  readonly alerts: Alerts;
}

/** More than a flip needs: those under way stand between. */
const FLIPS_LOOKED_AT = 8;

/**
 * What was sent of one effect key, asked once for one turn of an intent: the claim holds the key, so nothing else is sent meanwhile. The turn's
 * own write comes after the questions.
 */
export function sentOnce(recovery: ObjectionDeps['recovery']): ObjectionDeps['recovery'] {
  const answers = new Map<string, ReturnType<RecoveryStore['sentOfEffects']>>();
  return {
    undoOf: (effectKey) => recovery.undoOf(effectKey),
    sentOfEffects: (effectKeys, limit) => {
      const question = JSON.stringify([effectKeys, limit]);
      const sent = answers.get(question) ?? recovery.sentOfEffects(effectKeys, limit);
      answers.set(question, sent);
      return sent;
    },
  };
}

/** What `sentOnce` would tell of an effect key without a history (`Claim.hasHistory`). */
export const NO_HISTORY: ObjectionDeps['recovery'] = { undoOf: async () => null, sentOfEffects: async () => [] };

/** What others did to the same thing, or want of it, and a live intent gives way to; null = nothing. */
export async function findObjection(
  deps: ObjectionDeps,
  claim: Pick<Claim, 'intent' | 'overtakenBy'>,
  action: AnyAction,
): Promise<Ending | null> {
  const { intent } = claim;
  if (intent.mode === 'dry-run') return null;
  return overtaken(claim, action) ?? (await undone(deps, intent, action)) ?? (await flips(deps, intent, action));
}

/** While it waited, a newer intent for the same thing may have come first. */
function overtaken(
  { intent, overtakenBy: newer }: Pick<Claim, 'intent' | 'overtakenBy'>,
  action: AnyAction,
): Ending | null {
  if (newer === null || !(action.overwrites ?? action.recover?.absolute)) return null;
  const reason = overtakenBy(intent, newer);
  if (reason === null) return null;
  return { to: 'cancelled', reason, wrote: null, detail: { code: OVERTAKEN, by: newer.id } };
}

/** What a person undid is not made again until a person says so. */
async function undone({ recovery }: ObjectionDeps, intent: Intent, action: AnyAction): Promise<Ending | null> {
  if (!action.recover?.matcher?.undoneBy) return null;
  const undo = await recovery.undoOf(intent.effectKey);
  if (!undo) return null;
  const reason = intentReason('intent.undone', { told: undo.summary, event: undo.eventId, intent: intent.id });
  return { to: 'suppressed', reason, wrote: null, detail: { undone_by: undo.by, event: undo.eventId } };
}

/** Two rules that set one thing back and forth are stopped, both, until a person lets them go on. */
async function flips(
  { recovery, journal, clock, alerts }: ObjectionDeps,
  intent: Intent,
  action: AnyAction,
): Promise<Ending | null> {
  if (!action.recover?.absolute) return null;
  const before = (await recovery.sentOfEffects([intent.effectKey], FLIPS_LOOKED_AT)).filter(
    (other) => other.intent.id !== intent.id && other.intent.state === 'done',
  );
  const history = before.map((other) => ({
    rule: other.intent.rule,
    params: other.intent.params,
    sentAt: other.sentAt,
  }));
  const flip = findFlip(intent, history, clock.now());
  if (!flip) return null;
  for (const rule of flip)
    await journal.pause({ org: intent.org, rule, by: 'breaker: back and forth', at: clock.now() });
  const reason = intentReason('intent.flips', { rules: flip, org: intent.org });
  alerts.raise(
    `breaker.flip/${intent.org}/${[...flip].sort().join('+')}`,
    alert('breaker.flip', { org: intent.org, because: reason }),
    { intentId: intent.id },
  );
  return { to: 'given-back', reason, wrote: null };
}

/** Code of an intent that was cancelled because a newer intent came first. */
const OVERTAKEN = 'stale.overtaken';

type OlderIntent = Pick<Intent, 'action' | 'params'>;
type NewerIntent = Pick<Intent, 'id' | 'action' | 'params' | 'rule'>;

/**
 * While an intent waits (for room in a budget, for a person), a newer intent for the same thing may be fulfilled; the older one must not overwrite
 * it. Effects that go together are both fulfilled: the same value twice, other fields of one object, another entry of a list. Pure.
 * @returns why the older intent is stale; null when it is not
 */
export function overtakenBy(older: OlderIntent, newer: NewerIntent | null): Reason | null {
  if (newer === null || goTogether(older, newer)) return null;
  return intentReason('intent.overtaken', { rule: newer.rule, intent: newer.id });
}

function goTogether(older: OlderIntent, newer: OlderIntent): boolean {
  // Two actions of one effect key: one makes what the other takes away.
  if (older.action !== newer.action) return false;
  const [before, after] = [comparable(older.params), comparable(newer.params)];
  if (!isListChange(before) && !isListChange(after))
    return Object.keys(before).every(
      (name) => after[name] === undefined || isDeepStrictEqual(before[name], after[name]),
    );
  if (before['set'] !== undefined || after['set'] !== undefined) return isDeepStrictEqual(before, after);
  return !meet(before['add'], after['remove']) && !meet(before['remove'], after['add']);
}

function isListChange(params: JsonObject): boolean {
  return ['add', 'remove', 'set'].some((name) => Array.isArray(params[name]));
}

function meet(one: Json | undefined, other: Json | undefined): boolean {
  return Array.isArray(one) && Array.isArray(other) && one.some((entry) => other.includes(entry));
}

interface WantedEffect {
  readonly rule: string;
  readonly params: JsonObject;
}

/** An effect that was made, and when its call was made. */
export interface FulfilledEffect extends WantedEffect {
  readonly sentAt: Date;
}

/** Effects on one object that follow each other within this time are a fight; further apart they are life. */
export const FLIP_WINDOW_MS = 600_000;
/** Back and forth so many times in all: two rounds. */
const FLIPS = 4;

/**
 * Two rules that set one thing back and forth: A B A B, and now A again. Pure.
 * @param before effects made of the same effect key, the newest first
 * @returns the two rules, or null
 */
export function findFlip(
  wanted: WantedEffect,
  before: readonly FulfilledEffect[],
  now: Date,
): readonly [string, string] | null {
  const recent = before.slice(0, FLIPS);
  const oldest = recent.at(-1);
  const other = recent[0];
  if (recent.length < FLIPS || !oldest || !other || now.getTime() - oldest.sentAt.getTime() > FLIP_WINDOW_MS)
    return null;
  if (other.rule === wanted.rule || isSame(other, wanted)) return null;
  const alternates = recent.every((earlier, n) => {
    const expected = n % 2 === 0 ? other : wanted;
    return earlier.rule === expected.rule && isSame(earlier, expected);
  });
  return alternates ? [wanted.rule, other.rule] : null;
}

function isSame(a: WantedEffect, b: WantedEffect): boolean {
  return isDeepStrictEqual(comparable(a.params), comparable(b.params));
}

/** Sealed values differ in each sealing; their hashes do not. */
export function comparable(params: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, isSealed(value) ? { $hash: value.$hash } : value]),
  );
}

/** Code of an intent that was cancelled because its object is otherwise now. */
export const CONTRADICTED = 'stale.contradicted';

/**
 * An event tells what was. Where its object was told about once more, or out of order, or the step waited long, what the event tells may have been
 * overtaken: the step reads the object of now before it acts.
 */
export class LiveState {
  constructor(private readonly recovery: Pick<RecoveryStore, 'doubtAbout'>) {}

  /**
   * @param read the forge's read of an issue or pull request; undefined where it offers none, and nothing can be compared
   * @returns why what caused the intent does not hold any more; null when it does, or nobody doubts it
   * @throws ForgeError when it cannot be read now
   */
  async contradiction(
    { runId }: Intent,
    target: Target,
    read: ForgeClient['getIssue'] | undefined,
  ): Promise<Reason | null> {
    const doubt = await this.recovery.doubtAbout(runId);
    if (!doubt || target.kind !== 'repository' || doubt.event.repo?.id !== target.id) return null;
    const claim = claimOf(doubt.event);
    if (!claim) return null;
    const live = await whereAllowed(read, (get) =>
      orMissing(get({ owner: target.owner, repo: target.name, index: claim.number })),
    );
    // What cannot be seen tells nothing: a token without the right to read it is answered "not there" as well.
    const now = live ? claim.differs(live) : null;
    const { kind } = doubt.event;
    return now && intentReason('intent.contradicted', { kind, number: claim.number, doubt: doubt.because, now });
  }
}

interface Statement {
  readonly number: string;
  /** What is otherwise now; null = nothing. */
  differs(live: Issue): LiveDifference | null;
}

/** What an event says about its issue or pull request that can be read back; null for all that only tells that something happened. */
export function claimOf({ kind, data }: Pick<ForgeEvent, 'kind' | 'data'>): Statement | null {
  const match = /^(issue|pull_request)\.(.+)$/.exec(kind);
  const number = String(data['number'] ?? '');
  const subject = objectIn(data['pull_request']) ?? objectIn(data['issue']);
  const differs = match?.[2] === undefined || number === '' ? null : comparisonOf(match[2], subject);
  return differs && { number, differs };
}

function comparisonOf(what: string, subject: JsonObject | null): Statement['differs'] | null {
  switch (what) {
    case 'opened':
    case 'reopened':
      return ({ state }) => (state === 'open' ? null : { what: 'state', value: state ?? 'not open' });
    case 'closed':
      return ({ state }) => (state === 'closed' ? null : { what: 'state', value: state ?? 'not closed' });
    case 'merged':
      return (live) => (live.pull_request?.merged === true ? null : { what: 'merged', value: false });
    case 'ready_for_review':
      return (live) => (live.pull_request?.draft === true ? { what: 'draft', value: true } : null);
    case 'labeled':
    case 'labels_cleared':
      return sameNames('labels', namesIn(subject?.['labels'], 'name'), ({ labels }) =>
        (labels ?? []).map(({ name }) => name ?? ''),
      );
    case 'assigned':
    case 'unassigned':
      return sameNames('assignees', namesIn(subject?.['assignees'], 'login'), ({ assignees }) =>
        (assignees ?? []).map(({ login }) => login ?? ''),
      );
    case 'milestoned':
    case 'demilestoned':
      return sameNames('milestone', namesIn([subject?.['milestone'] ?? null], 'title'), ({ milestone }) =>
        milestone?.title ? [milestone.title] : [],
      );
    default:
      return null;
  }
}

function sameNames(
  what: 'labels' | 'assignees' | 'milestone',
  toldNames: string[] | null,
  of: (live: Issue) => string[],
): Statement['differs'] | null {
  if (toldNames === null) return null;
  return (live) => {
    const now = of(live).sort();
    return now.join('\n') === toldNames.join('\n') ? null : { what, value: now };
  };
}

/** Sorted; null when the event does not tell them. */
function namesIn(list: Json | undefined, field: string): string[] | null {
  if (list === undefined) return null;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => (isJsonObject(item) && typeof item[field] === 'string' ? [item[field]] : [])).sort();
}

function objectIn(value: Json | undefined): JsonObject | null {
  return value !== undefined && isJsonObject(value) ? value : null;
}
