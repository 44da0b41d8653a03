import { Inject, Injectable } from '@nestjs/common';
import type { Counter, Histogram } from 'prom-client';
import type { Outcome } from '../../actions/define-action.js';
import { Alerts, alert } from '../../core/alerts.js';
import { backoffMs } from '../../platform/backoff.js';
import type { SpentBudget } from '../../core/budgets.js';
import { Clock } from '../../core/clock.js';
import { BotError, CallError, ForgeError, ServiceError, type ForgeErrorKind } from '../../core/errors.js';
import type { Json } from '../../core/json.js';
import { Logger } from '../../core/logger.js';
import { Random } from '../../core/random.js';
import { type Reason, textOf } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import { isOrgStopped } from '../../forge/org-numbers.js';
import { traceOf } from '../../core/trace.js';
import type { Intent } from '../../core/run.js';
import type { IntentState } from '../../core/states.js';
import { Metrics } from '../../observability/metrics.js';
import type { AnyAction } from '../../actions/define-action.js';
import { JournalStore, type Claim, type DueIntent, type IntentMove, type Settled } from '../journal-store.port.js';
import type { IntentStatus } from '../../rules/revisions/active-revisions.port.js';
import { isSilence } from './forge-access.js';
import { WriteNotAllowed, WriteNotWanted, type WriteState, WriteSuppressed } from './guarded-forge.js';
import { persist } from './keep-claim.js';

/** How the work on one claim ended, before the retry table has spoken. */
export type Ending =
  | {
      readonly to: 'done' | 'unchanged' | 'conflict' | 'refused' | 'suppressed' | 'cancelled' | 'dead';
      readonly reason: Reason;
      readonly wrote: WriteState | null;
      readonly detail: Json;
    }
  /** Given back as it was: not ours any more, paused, or the process stops. */
  | {
      readonly to: 'given-back';
      readonly reason: Reason;
      readonly wrote: WriteState | null;
      readonly waitMs?: number;
      /** This budget is spent: others go first meanwhile. */
      readonly spentBudget?: SpentBudget;
    }
  /** Something that others do is missing still; the write, where there was one, was refused for it, or was a step on the way. */
  | {
      readonly to: 'waits';
      readonly reason: Reason;
      readonly wrote: WriteState | null;
      /** What the next look is told; absent = nothing new. */
      readonly detail?: Json;
      readonly againInMs?: number;
    }
  | {
      readonly to: 'failed';
      readonly failure: Failure;
      readonly reason: Reason;
      readonly retryAfterS: number | undefined;
      readonly wrote: WriteState | null;
      readonly error: unknown;
    };

/** What an action says it did; a change without a write is a fault of the action. */
export function endingOf(outcome: Outcome, wrote: WriteState | null, intentId: string): Ending {
  const { reason } = outcome;
  const detail: Json = {
    detail: outcome.detail,
    ...(outcome.kind === 'changed' ? { objectId: outcome.objectId } : {}),
  };
  if (outcome.kind === 'not-yet') {
    const { againInMs } = outcome;
    const isNoted = Object.keys(outcome.detail).length > 0;
    return {
      to: 'waits',
      reason,
      wrote,
      ...(isNoted ? { detail } : {}),
      ...(againInMs === undefined ? {} : { againInMs }),
    };
  }
  if (outcome.kind === 'undone') {
    const undone = intentReason('intent.undone-unseen', { said: reason, intent: intentId });
    return { to: 'suppressed', reason: undone, wrote, detail };
  }
  if (outcome.kind !== 'changed') return { to: outcome.kind, reason, wrote, detail };
  if (wrote?.outcome === 'done') return { to: 'done', reason, wrote, detail };
  return { to: 'dead', reason: intentReason('intent.changed-without-call', { said: reason }), wrote, detail };
}

/**
 * What an exception out of an action means. The write decides: once it may have had an effect the outcome is `unknown`, whatever went
 * wrong afterwards; what failed before it, or beside a write that was refused for sure, may be tried again.
 */
export function classifyError(error: unknown, wrote: WriteState | null): Ending {
  if (error instanceof WriteSuppressed)
    return {
      to: 'suppressed',
      reason: intentReason('intent.dry-run'),
      wrote: null,
      detail: { would_send: error.proposal },
    };
  if (error instanceof WriteNotAllowed) return { to: 'given-back', reason: intentReason('intent.not-ours'), wrote };
  if (error instanceof WriteNotWanted) return endingOfStatus(error.status);
  const reason = reasonOf(error);
  if (wrote?.outcome === 'done') {
    return {
      to: 'done',
      reason: intentReason('intent.done-then-failed'),
      wrote,
      detail: { failed_after: textOf(reason) },
    };
  }
  const failed = { to: 'failed', reason, wrote, error } as const;
  if (wrote && (wrote.outcome === null || wrote.outcome === 'unknown'))
    return { ...failed, failure: 'unknown', retryAfterS: undefined };
  if (error instanceof CallError) {
    if (error.facts.detail === 'stopped') return { to: 'given-back', reason: intentReason('intent.stopping'), wrote };
    if (error instanceof ForgeError && isOrgStopped(error))
      return { to: 'given-back', reason, wrote, waitMs: ORG_STOPPED_WAIT_MS };
    if (error.facts.detail === 'stood-still') return { ...failed, failure: 'stood-still', retryAfterS: undefined };
    if (error instanceof ServiceError && (error.kind === 'not-sent' || error.kind === 'rate-limited'))
      return { ...failed, failure: SERVICE_FAILURES[error.kind], retryAfterS: error.facts.retryAfterS };
    return {
      ...failed,
      failure: error.kind !== 'unknown' ? error.kind : isSilence(error) ? 'no-answer' : 'read-failed',
      retryAfterS: error.facts.retryAfterS,
    };
  }
  if (error instanceof BotError && error.retry === 'permanent')
    return { to: 'refused', reason, wrote, detail: { code: error.code } };
  return { ...failed, failure: 'internal', retryAfterS: undefined };
}

const SERVICE_FAILURES = { 'not-sent': 'service-away', 'rate-limited': 'service-limits' } as const;

const UNKNOWN_CAUSE_WAIT_MS = 5_000;
/** Failures of a read that say nothing about what was read. */
const WHOLE_FORGE: ReadonlySet<Failure> = new Set(['not-sent', 'no-answer', 'rate-limited', 'stood-still']);

/** The forge could not be asked who caused it. */
export function unreadCause(error: ForgeError): Ending {
  const reason = intentReason('intent.cause-unknown', { because: reasonOf(error) });
  const ending = classifyError(error, null);
  return ending.to === 'failed' && WHOLE_FORGE.has(ending.failure)
    ? { to: 'given-back', reason, wrote: null, waitMs: UNKNOWN_CAUSE_WAIT_MS }
    : { to: 'failed', failure: 'cause-unread', reason, retryAfterS: undefined, wrote: null, error };
}

/** Nothing was sent: a rule that is gone ends its intents, one that another process may know better is left to it. */
export function endingOfStatus({ is, reason }: Exclude<IntentStatus, { is: 'wanted' }>): Ending {
  return is === 'cancelled'
    ? { to: 'cancelled', reason, wrote: null, detail: null }
    : { to: 'given-back', reason, wrote: null };
}

/** Errors of ours are written for people and hold no secret; of all others only the name is told, since a text may hold anything. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof BotError)
    return error.reason ?? intentReason('intent.failed', { error: error.code, message: error.message });
  return intentReason('intent.fault', { error: error instanceof Error ? error.name : typeof error });
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Beyond it, what others should have done is not expected any more. */
const WAITS_AT_MOST_MS = 3 * DAY;

/** Time to the next look at what waits: soon while it is fresh, since no event may tell of the change. */
function nextLookMs(waitsForMs: number): number {
  return Math.min(Math.max(waitsForMs / 2, 15 * SECOND), 10 * MINUTE);
}

/** An organization that is stopped waits for a person. */
const ORG_STOPPED_WAIT_MS = MINUTE;

/** Longest wait between two tries, also against absurd `Retry-After`. */
const MAX_WAIT_MS = 15 * MINUTE;

interface Rule {
  /** What becomes of the intent. */
  readonly then: 'try-again' | 'refused' | 'unknown';
  /** Whether the try counts towards `maxTries`; a forge that asks to wait burns none. */
  readonly counts: boolean;
  readonly maxTries: number;
  /** No further try when the first failure is longer ago. */
  readonly maxAgeMs: number;
  readonly firstWaitMs: number;
  readonly factor: number;
  /** It fails for a reason of its own: others of its repository go on meanwhile. Absent = the whole forge or this process is in the way, and it keeps its place. */
  readonly aside?: true;
}

const AGAIN = {
  then: 'try-again',
  counts: true,
  maxTries: 8,
  maxAgeMs: 24 * HOUR,
  firstWaitMs: SECOND,
  factor: 4,
} as const satisfies Rule;
const NEVER = { counts: false, maxTries: 0, maxAgeMs: 0, firstWaitMs: 0, factor: 1 } as const;

/**
 * What failed: a write, by its kind; or something before or beside it that had no effect for sure. `no-answer`: a read that the forge did not answer at
 * all; `cause-unread`: the read of who caused it; `service-…`: a service outside of the forge, which nothing else waits for.
 */
export type Failure =
  | ForgeErrorKind
  | 'read-failed'
  | 'no-answer'
  | 'cause-unread'
  | 'internal'
  | 'stood-still'
  | 'service-away'
  | 'service-limits';

/**
 * The one table: failure -> what happens, how often, after which wait. Only what had no effect for sure is tried again.
 * `unknown` is the outcome of a write; a read without a usable answer is `read-failed`.
 */
export const RETRY_TABLE: Readonly<Record<Failure, Rule>> = {
  'not-sent': AGAIN,
  'no-answer': AGAIN,
  'read-failed': { ...AGAIN, aside: true },
  internal: { ...AGAIN, aside: true },
  // Who caused it may be known to the forge alone: it waits for that, and burns no try.
  'cause-unread': { ...AGAIN, counts: false, firstWaitMs: 5 * SECOND, factor: 1, aside: true },
  // Our own slowness says nothing about the effect: it burns no try, and the next one comes soon.
  'stood-still': { ...AGAIN, counts: false, factor: 1 },
  'rate-limited': { ...AGAIN, counts: false, firstWaitMs: 30 * SECOND, factor: 1 },
  'service-away': { ...AGAIN, aside: true },
  'service-limits': { ...AGAIN, counts: false, firstWaitMs: 30 * SECOND, factor: 1, aside: true },
  refused: { ...NEVER, then: 'refused' },
  moved: { ...NEVER, then: 'refused' },
  'not-offered': { ...NEVER, then: 'refused' },
  unknown: { ...NEVER, then: 'unknown' },
};

interface FailedTry {
  readonly failure: Failure;
  /** Counted tries that failed before this one. */
  readonly triesBefore: number;
  /** Milliseconds since the first failure; 0 when this is the first. */
  readonly failingForMs: number;
  readonly retryAfterS?: number | undefined;
}

export type Verdict =
  | { readonly to: 'planned'; readonly waitMs: number; readonly failed: 'counted' | 'uncounted'; readonly aside?: true }
  | { readonly to: 'refused' | 'unknown' }
  /** After so many tries, or after so many hours of failures. */
  | { readonly to: 'dead'; readonly tries: number | null; readonly hours: number | null };

/**
 * Whether and when to try again.
 * @param random 0 to 1, for the jitter: waits are between half of the table's and the whole, so that many intents do not come back at once
 */
export function judgeFailure(
  { failure, triesBefore, failingForMs, retryAfterS }: FailedTry,
  random: () => number,
): Verdict {
  const rule = RETRY_TABLE[failure];
  if (rule.then !== 'try-again') return { to: rule.then };
  const tries = triesBefore + (rule.counts ? 1 : 0);
  if (rule.counts && tries >= rule.maxTries) return { to: 'dead', tries, hours: null };
  if (failingForMs >= rule.maxAgeMs) return { to: 'dead', tries: null, hours: Math.round(failingForMs / HOUR) };
  const retry = {
    failed: rule.counts ? 'counted' : 'uncounted',
    ...(rule.aside ? { aside: rule.aside } : {}),
  } as const;
  if (retryAfterS !== undefined)
    return {
      to: 'planned',
      waitMs: Math.min(Math.max(retryAfterS, 0) * SECOND + Math.round(SECOND * random()), MAX_WAIT_MS),
      ...retry,
    };
  const growth = { firstMs: rule.firstWaitMs, factor: rule.factor, maxMs: MAX_WAIT_MS, between: [0.5, 1] } as const;
  return { to: 'planned', waitMs: backoffMs(triesBefore, growth, random), ...retry };
}

/** What becomes of an intent whose call may or may not have had its effect. It is never sent again without a read, an arrival or a person. */
export abstract class UnknownOutcomes {
  /** The intent has just become `unknown`. */
  abstract handle(intent: Intent): Promise<void>;
  /** Everything that is due. Never throws. */
  abstract pass(limit: number): Promise<void>;
}

type Move = Pick<IntentMove, 'to' | 'reason' | 'dueAt' | 'failed' | 'spentBudget' | 'waits' | 'aside'> & {
  result?: Json;
};

/** How many that one end set free are told at once; the others follow from theirs, or from the poll. */
const WAKE_NEXT = 8;

/** An intent that may be claimed again. */
export interface Again extends DueIntent {
  readonly inMs: number;
}

/** A merge queue merged something onto what it had not tested. */
export function tellUntested(
  alerts: Alerts,
  { id, org, rule }: Pick<Intent, 'id' | 'org' | 'rule'>,
  because: Reason,
): void {
  const key = `queue.untested/${org}/${rule}` as const;
  if (because.code === UNTESTED) alerts.raise(key, alert('queue.untested', { org, rule, because }), { intentId: id });
  else if (because.code === MERGED) alerts.resolve(key);
}

/** What ended well may undo what an older intent still waits for: that one is due now (the poll finds it), and ends. */
export async function wakeOvertaken(
  {
    actions,
    journal,
  }: { readonly actions: ReadonlyMap<string, AnyAction>; readonly journal: Pick<JournalStore, 'revisit'> },
  { action, org, orderKey }: Pick<Intent, 'action' | 'org' | 'orderKey'>,
  ended: string,
): Promise<void> {
  if (ended !== 'done' && ended !== 'unchanged') return;
  if (actions.get(actions.get(action)?.effect?.undoes ?? '')?.awaits) await journal.revisit(org, orderKey);
}

const UNTESTED = 'made.merged-untested';
const MERGED = 'made.merged';

/** What follows the work on a claim. */
export interface Aftermath {
  readonly org: string;
  /** Null when it need not be claimed again. */
  readonly again: Again | null;
  /** What its end may have set free. */
  readonly near: readonly DueIntent[];
}

/** Writes down how the work on a claim ended: retry, dead letter or end is decided here and nowhere else. */
@Injectable()
export class Settler {
  constructor(
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'settle' | 'dueNear'>,
    private readonly unknown: UnknownOutcomes,
    @Inject(Metrics)
    private readonly metrics: {
      readonly attempts: Pick<Counter, 'inc'>;
      readonly effectSeconds: Pick<Histogram, 'observe'>;
    },
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly logger: Logger,
    private readonly alerts: Alerts,
  ) {}

  async settle({ intent, epoch, causeId }: Claim, ending: Ending): Promise<Aftermath> {
    const { journal, unknown, clock, logger } = this;
    const move = this.moveFor(intent, ending);
    // Its lease may have run out while the call was under way. As long as the epoch is ours nobody else worked on it, and our answer
    // is the truth that an unknown or waiting intent lacks.
    const from: IntentState[] = ending.wrote ? ['sent', 'unknown', 'waiting'] : ['claimed'];
    const { wrote } = ending;
    const answer = wrote?.unstored && { id: wrote.attempt.id, ...wrote.unstored };
    const settled = await persist(() =>
      journal.settle({ move: { intentId: intent.id, epoch, from, ...move }, answer, near: WAKE_NEXT }),
    );
    const { moved, near } = settled.moved ? settled : ((await this.tellLate(intent, wrote, move)) ?? settled);
    this.report(intent, causeId, ending, move.to, move.reason, moved);
    const { id, org, background: isBackground = false } = intent;
    const aftermath = { org, again: null, near };
    if (!moved) return aftermath;
    if (move.to === 'unknown') {
      // What fails here is found by the poll.
      await unknown
        .handle(intent)
        .catch((error: unknown) => logger.warn({ intentId: intent.id, error }, 'unknown.put-off'));
      return { ...aftermath, near: await journal.dueNear(id, WAKE_NEXT) };
    }
    if (ending.to !== 'failed' || !move.dueAt) return aftermath;
    return {
      ...aftermath,
      again: { id, isBackground, inMs: Math.max(move.dueAt.getTime() - clock.now().getTime(), 0) },
    };
  }

  /** Somebody read about it meanwhile: as long as no further call was made, a sure answer is worth more than any read. */
  private async tellLate(intent: Intent, wrote: Ending['wrote'], move: Move): Promise<Settled | null> {
    if (!wrote || wrote.outcome === null || wrote.outcome === 'unknown') return null;
    const late: IntentMove = {
      intentId: intent.id,
      epoch: null,
      attempts: wrote.attempt.n,
      from: ['unknown', 'waiting'],
      ...move,
    };
    return persist(() => this.journal.settle({ move: late, near: WAKE_NEXT }));
  }

  private moveFor(intent: Intent, ending: Ending): Move {
    if (ending.to === 'given-back') {
      const dueAt = new Date(this.clock.now().getTime() + (ending.waitMs ?? 0));
      return {
        to: 'planned',
        reason: ending.reason,
        dueAt,
        ...(ending.spentBudget ? { spentBudget: ending.spentBudget } : {}),
      };
    }
    if (ending.to === 'waits') return this.moveOfWait(intent, ending);
    if (ending.to !== 'failed') return { to: ending.to, reason: ending.reason, result: ending.detail };
    const now = this.clock.now().getTime();
    const failingForMs = intent.failingSince ? now - intent.failingSince.getTime() : 0;
    const verdict = judgeFailure(
      { failure: ending.failure, triesBefore: intent.tries, failingForMs, retryAfterS: ending.retryAfterS },
      () => this.random.next(),
    );
    switch (verdict.to) {
      case 'planned': {
        const { to, waitMs, ...retry } = verdict;
        return { to, reason: ending.reason, dueAt: new Date(now + waitMs), ...retry };
      }
      case 'dead':
        return {
          to: 'dead',
          reason: intentReason('intent.given-up', { tries: verdict.tries, hours: verdict.hours, last: ending.reason }),
          failed: 'counted',
        };
      default:
        return { to: verdict.to, reason: ending.reason };
    }
  }

  /** Given up when it waits too long since it was planned, unless it noted something, and so ends by itself: `retry` by hand looks once more. */
  private moveOfWait(
    { plannedAt }: Intent,
    { reason: because, detail, againInMs }: Extract<Ending, { to: 'waits' }>,
  ): Move {
    const now = this.clock.now().getTime();
    const waitsForMs = now - plannedAt.getTime();
    if (waitsForMs < WAITS_AT_MOST_MS || detail !== undefined)
      return {
        to: 'planned',
        reason: intentReason('intent.waits', { because }),
        dueAt: new Date(now + (againInMs ?? nextLookMs(waitsForMs))),
        waits: true,
        ...(detail === undefined ? {} : { result: detail }),
      };
    const days = Math.round(WAITS_AT_MOST_MS / DAY);
    return { to: 'refused', reason: intentReason('intent.waited-in-vain', { days, because }) };
  }

  private report(
    intent: Intent,
    causeId: string,
    ending: Ending,
    state: IntentState,
    why: Reason | null,
    moved: boolean,
  ): void {
    const { logger, metrics, alerts } = this;
    const { wrote } = ending;
    const facts = {
      intentId: intent.id,
      runId: intent.runId,
      org: intent.org,
      rule: intent.rule,
      action: intent.action,
      state,
      reason: why && textOf(why),
      code: why?.code ?? null,
      attempt: wrote?.attempt.n ?? null,
      ...traceOf(causeId, intent.id, intent.runId),
    };
    if (wrote) metrics.attempts.inc({ operation: wrote.attempt.operation, outcome: wrote.outcome ?? 'unknown' });
    if (!moved) return logger.warn(facts, 'intent.taken-over');
    metrics.effectSeconds.observe((this.clock.now().getTime() - intent.plannedAt.getTime()) / 1_000);
    if (ending.to === 'failed' && ending.failure === 'internal')
      logger.error({ ...facts, error: ending.error }, 'intent.failed');
    else logger.info(facts, 'intent.attempted');
    const { org, rule } = intent;
    const key = `intent.dead/${org}/${rule}` as const;
    if (state === 'dead') alerts.raise(key, alert('intent.dead', { org, rule, because: why }), { intentId: intent.id });
    if (state === 'done' || state === 'unchanged') alerts.resolve(key);
    if (state === 'done' && why) tellUntested(alerts, intent, why);
  }
}
