import { alert, type Alerts } from '../../core/alerts.js';
import type { Clock } from '../../core/clock.js';
import type { Logger } from '../../core/logger.js';
import type { Json } from '../../core/json.js';
import { textOf, type Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import type { IntentState } from '../../core/states.js';
import type { Claim, IntentMove, JournalStore } from '../journal-store.port.js';
import type { Intent } from '../../core/run.js';
import { judgeFailure, type Ending } from './ending.js';
import { persist } from './persist.js';

/** For metrics; every call is optional. */
export interface EffectObserver {
  attempted(operation: string, outcome: string): void;
  ended(intent: Intent, state: IntentState): void;
}

/** What becomes of an intent whose call may or may not have had its effect. It is never sent again without a read, an arrival or a person. */
export interface UnknownOutcomes {
  /** The intent has just become `unknown`. */
  handle(intent: Intent): Promise<void>;
  /** Everything that is due. Never throws. */
  pass(limit: number): Promise<void>;
}

export interface SettleDeps {
  readonly journal: JournalStore;
  readonly unknown: UnknownOutcomes;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly alerts: Alerts;
  readonly observer: EffectObserver;
}

/** Writes down how the work on a claim ended: retry, dead letter or end is decided here and nowhere else. */
export class Settler {
  constructor(private readonly deps: SettleDeps) {}

  /** @returns milliseconds until it may be claimed again; null when it need not be */
  async settle({ intent, epoch }: Claim, ending: Ending): Promise<number | null> {
    const move = this.moveFor(intent, ending);
    // Its lease may have run out while the call was under way. As long as the epoch is ours nobody else worked on it, and our answer
    // is the truth that an unknown or waiting intent lacks.
    const from: IntentState[] = ending.wrote ? ['sent', 'unknown', 'waiting'] : ['claimed'];
    const moved =
      (await persist(() => this.deps.journal.move({ intentId: intent.id, epoch, from, ...move }))) ||
      (await this.tellLate(intent, ending.wrote, move));
    this.report(intent, ending, move.to, move.reason, moved);
    // What fails here is found by the sweep.
    if (moved && move.to === 'unknown')
      await this.deps.unknown
        .handle(intent)
        .catch((error: unknown) => this.deps.logger.warn({ intentId: intent.id, error }, 'unknown.put-off'));
    return moved && move.dueAt && ending.to === 'failed'
      ? Math.max(move.dueAt.getTime() - this.deps.clock.now().getTime(), 0)
      : null;
  }

  /** Somebody read about it meanwhile: as long as no further call was made, a sure answer is worth more than any read. */
  private async tellLate(
    intent: Intent,
    wrote: Ending['wrote'],
    move: ReturnType<Settler['moveFor']>,
  ): Promise<boolean> {
    if (!wrote || wrote.outcome === null || wrote.outcome === 'unknown') return false;
    return persist(() =>
      this.deps.journal.move({
        intentId: intent.id,
        epoch: null,
        attempts: wrote.attempt.n,
        from: ['unknown', 'waiting'],
        ...move,
      }),
    );
  }

  private moveFor(
    intent: Intent,
    ending: Ending,
  ): Pick<IntentMove, 'to' | 'reason' | 'dueAt' | 'failed' | 'held'> & { result?: Json } {
    if (ending.to === 'given-back') {
      const dueAt = new Date(this.deps.clock.now().getTime() + (ending.waitMs ?? 0));
      return { to: 'planned', reason: ending.reason, dueAt, ...(ending.held ? { held: ending.held } : {}) };
    }
    if (ending.to !== 'failed') return { to: ending.to, reason: ending.reason, result: ending.detail };
    const now = this.deps.clock.now().getTime();
    const failingForMs = intent.failingSince ? now - intent.failingSince.getTime() : 0;
    const verdict = judgeFailure(
      { failure: ending.failure, triesBefore: intent.tries, failingForMs, retryAfterS: ending.retryAfterS },
      this.deps.random,
    );
    switch (verdict.to) {
      case 'planned':
        return { to: 'planned', reason: ending.reason, dueAt: new Date(now + verdict.waitMs), failed: verdict.failed };
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

  private report(intent: Intent, ending: Ending, state: IntentState, why: Reason | null, moved: boolean): void {
    const { logger, observer, alerts } = this.deps;
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
    };
    if (wrote) observer.attempted(wrote.attempt.operation, wrote.outcome ?? 'unknown');
    if (!moved) return logger.warn(facts, 'intent.taken-over');
    observer.ended(intent, state);
    if (ending.to === 'failed' && ending.failure === 'internal')
      logger.error({ ...facts, error: ending.error }, 'intent.failed');
    else logger.info(facts, 'intent.attempted');
    const { org, rule } = intent;
    const key = `intent.dead/${org}/${rule}` as const;
    if (state === 'dead') alerts.raise(key, alert('intent.dead', { org, rule, because: why }), { intentId: intent.id });
    if (state === 'done' || state === 'unchanged') alerts.resolve(key);
  }
}
