import type { Outcome } from '../../actions/support/outcome.js';
import { BotError, ForgeError } from '../../core/errors.js';
import type { Json } from '../../core/json.js';
import { textOf, type Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import type { SpentBudget } from '../../core/budgets.js';
import type { IntentStatus } from '../../rules/revisions/active-revisions.port.js';
import { WriteNotAllowed, WriteNotWanted, WriteSuppressed, type WriteState } from './guarded-forge.js';
import type { Failure } from './retry-policy.js';

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
      readonly held?: SpentBudget;
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
export function endingOf(outcome: Outcome, wrote: WriteState | null): Ending {
  const detail: Json = {
    summary: outcome.summary,
    detail: outcome.detail,
    ...(outcome.kind === 'changed' ? { objectId: outcome.objectId } : {}),
  };
  const { summary } = outcome;
  const reason = intentReason('intent.reported', { summary });
  if (outcome.kind !== 'changed') return { to: outcome.kind, reason, wrote, detail };
  if (wrote?.outcome === 'done') return { to: 'done', reason, wrote, detail };
  return { to: 'dead', reason: intentReason('intent.changed-without-call', { summary }), wrote, detail };
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
  if (error instanceof WriteNotAllowed)
    return { to: 'given-back', reason: intentReason('intent.not-ours', { because: error.message }), wrote };
  if (error instanceof WriteNotWanted) return endingOfStanding(error.standing);
  const reason = reasonOf(error);
  if (wrote?.outcome === 'done') {
    return {
      to: 'done',
      reason: intentReason('intent.done-then-failed'),
      wrote,
      detail: { summary: 'done', failed_after: textOf(reason) },
    };
  }
  const failed = { to: 'failed', reason, wrote, error } as const;
  if (wrote && (wrote.outcome === null || wrote.outcome === 'unknown'))
    return { ...failed, failure: 'unknown', retryAfterS: undefined };
  if (error instanceof ForgeError) {
    if (error.facts.detail === 'stopped') return { to: 'given-back', reason: intentReason('intent.stopping'), wrote };
    return {
      ...failed,
      failure: error.kind === 'unknown' ? 'read-failed' : error.kind,
      retryAfterS: error.facts.retryAfterS,
    };
  }
  if (error instanceof BotError && error.retry === 'permanent')
    return { to: 'refused', reason, wrote, detail: { code: error.code } };
  return { ...failed, failure: 'internal', retryAfterS: undefined };
}

/** Nothing was sent: a rule that is gone ends its intents, one that another process may know better is left to it. */
export function endingOfStanding({ is, reason: because }: Exclude<IntentStatus, { is: 'wanted' }>): Ending {
  const reason = intentReason('intent.rule-status', { because });
  return is === 'cancelled'
    ? { to: 'cancelled', reason, wrote: null, detail: null }
    : { to: 'given-back', reason, wrote: null };
}

/** Errors of ours are written for people and hold no secret; of all others only the name is told, since a text may hold anything. */
function reasonOf(error: unknown): Reason {
  if (error instanceof BotError) return intentReason('intent.failed', { error: error.code, message: error.message });
  return intentReason('intent.fault', { error: error instanceof Error ? error.name : typeof error });
}
