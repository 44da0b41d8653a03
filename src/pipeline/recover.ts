import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import type { Counter } from 'prom-client';
import { ThisProcess } from '../config/this-process.js';
import { textOf, type Reason } from '../core/reason.js';
import { intentReason } from '../core/run-reasons.js';
import type { AnyAction } from '../actions/define-action.js';
import type { Verdict } from '../actions/support/recovery.js';
import { Alerts } from '../core/alerts.js';
import { backoffMs } from '../platform/backoff.js';
import { callingAs } from '../core/caller.js';
import { BotError, ForgeError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import { Logger } from '../core/logger.js';
import { Random } from '../core/random.js';
import { Metrics } from '../observability/metrics.js';
import type { Attempt, Intent } from '../core/run.js';
import { EffectTools } from './execute/effect-tools.js';
import { ForgeHealth } from './execute/forge-access.js';
import { callerOfIntent, keepLease, persist } from './execute/keep-claim.js';
import { VerdictWriter } from './recover/apply-verdict.js';
import { DuplicateRemoval, factsOf } from './recover/remove-duplicates.js';
import { canRead, isOpen, readBack, settleMsOf } from './recover/read-back.js';
import { reasonOf, UnknownOutcomes } from './execute/settle.js';
import type { RecoveryClaim } from './recovery-store.port.js';

/** A process that was killed while it read leaves the read to others after this time. */
const LEASE_MS = 5_000;
/** Reads under way at once. */
const READS_AT_ONCE = 4;
const REREAD = { firstMs: 2_000, maxMs: 300_000, between: [0.5, 1] } as const;
/** A read that gave no answer for so long: a person decides. */
const GIVE_UP_READING_MS = 24 * 3_600_000;

/**
 * The way out of an unknown outcome: wait the settle time, read, let the action's own table decide, move along the state table. Nothing is
 * sent from here but the removal of a duplicate that bears our mark; "send again" makes the intent planned, and the ordinary way does the rest.
 */
@Injectable()
export class OutcomeRecovery implements UnknownOutcomes {
  private readonly verdicts: VerdictWriter;
  private readonly duplicates: DuplicateRemoval;

  constructor(
    private readonly tools: EffectTools,
    private readonly health: ForgeHealth,
    @Inject(ThisProcess) private readonly self: Pick<ThisProcess, 'name'>,
    private readonly random: Random,
    alerts: Alerts,
    private readonly logger: Logger,
    @Inject(Metrics) metrics: { readonly unconfirmed: Pick<Counter, 'inc'> },
  ) {
    this.verdicts = new VerdictWriter(tools, random, alerts, logger, metrics.unconfirmed);
    this.duplicates = new DuplicateRemoval(tools, alerts, logger);
  }

  /** Called as soon as an outcome is unknown: those that need no settle time are read about at once. */
  async handle(intent: Intent): Promise<void> {
    await this.recover(intent);
  }

  /** Everything whose read or look is due. Never throws: what fails comes again. */
  async pass(limit: number): Promise<void> {
    const { logger, health } = this;
    const { recovery, journal } = this.tools;
    const slots = pLimit(READS_AT_ONCE);
    const tried = async (work: () => Promise<void>, intentId: string): Promise<void> => {
      try {
        await work();
      } catch (error) {
        logger.warn({ intentId, error }, 'unknown.not-read');
      }
    };
    // A store that is away at this very moment gives no ids; nobody waits for a pass, so nobody would catch what it throws.
    const due = async (ids: Promise<string[]>): Promise<string[]> => {
      try {
        return await ids;
      } catch (error) {
        logger.warn({ error }, 'unknown.not-listed');
        return [];
      }
    };
    // Nobody waits for it: a forge that is slow to refuse holds up no reads of others.
    void health.look().catch((error: unknown) => logger.warn({ error }, 'credentials.not-read'));
    const reads = (await due(recovery.dueRecoveries(limit))).map((id) =>
      slots(
        tried,
        async () => {
          const intent = await journal.intent(id);
          if (intent) await this.recover(intent);
        },
        id,
      ),
    );
    const looks = (await due(recovery.dueLooks(limit))).map((id) => slots(tried, () => this.duplicates.look(id), id));
    await Promise.all([...reads, ...looks]);
  }

  private async recover(stored: Intent): Promise<void> {
    // Nothing is lost by waiting: it stays due.
    if (this.health.holds(stored.forge, stored.org)) return;
    const { journal, recovery } = this.tools;
    const claim = await recovery.claimRecovery(stored.id, this.self.name, LEASE_MS, this.settleMsOf(stored));
    if (!claim) return;
    const lease = keepLease(journal, claim);
    try {
      await callingAs(callerOfIntent(stored), () => this.work(claim));
    } finally {
      lease.release();
    }
  }

  private async work(claim: RecoveryClaim): Promise<void> {
    const { intent, attempts } = claim;
    const stored = attempts.at(-1);
    const action = this.tools.actions.get(intent.action);
    if (stored && stored.outcome !== null && stored.outcome !== 'unknown')
      return this.settleByAnswer(claim, stored, action);
    if (!action || attempts.every((attempt) => !isOpen(attempt)))
      return this.verdicts.apply(claim, null, {
        is: 'person',
        reason: intent.reason ?? intentReason('intent.no-answer'),
      });
    const answer = await this.ask(claim, action);
    if ('again' in answer) return this.readLater(claim, answer.again);
    await this.verdicts.apply(claim, action, answer.verdict);
  }

  /** Read and decide; `again` = the read told nothing this time. */
  private async ask(
    { intent, attempts, sentAgoMs }: RecoveryClaim,
    action: AnyAction,
  ): Promise<{ verdict: Verdict } | { again: Reason }> {
    try {
      return { verdict: await readBack(this.tools, action, intent, attempts, sentAgoMs) };
    } catch (error) {
      if (error instanceof ForgeError) {
        this.health.failed(intent.forge, intent.org, error);
        if (error.facts.status === 401) await this.health.checkCredentials(intent.forge, intent.org);
        return { again: reasonOf(error) };
      }
      if (error instanceof BotError && error.retry === 'permanent')
        return { verdict: { is: 'refused', reason: reasonOf(error) } };
      throw error;
    }
  }

  /** Its owner wrote the answer down and was lost before it could move the intent. */
  private async settleByAnswer(
    claim: RecoveryClaim,
    { outcome, objectId, operation }: Attempt,
    action: AnyAction | undefined,
  ): Promise<void> {
    const reason = intentReason('intent.answer-stored', { outcome: outcome ?? '' });
    const detail = detailOf(claim.attempts);
    const isOnTheWay = action?.onTheWay?.some((name) => name === operation) ?? false;
    if (outcome === 'done' && !isOnTheWay)
      await this.verdicts.move(claim, {
        to: 'done',
        reason,
        result: { detail, ...(objectId === null ? {} : { objectId }) },
      });
    else if (outcome === 'refused') await this.verdicts.move(claim, { to: 'refused', reason });
    else await this.verdicts.move(claim, { to: 'planned', reason, dueAt: this.tools.clock.now() });
  }

  private async readLater(claim: RecoveryClaim, failure: Reason): Promise<void> {
    const first = claim.attempts.find(isOpen)?.sentAt.getTime() ?? this.tools.clock.now().getTime();
    if (this.tools.clock.now().getTime() - first >= GIVE_UP_READING_MS)
      return this.verdicts.apply(claim, null, {
        is: 'person',
        reason: intentReason('intent.unreadable-for-long', { because: failure }),
      });
    const inMs = backoffMs(claim.reads, REREAD, () => this.random.next());
    const later = { inMs, reason: intentReason('intent.unreadable', { because: failure }), counted: 'reads' } as const;
    await persist(() => this.tools.recovery.putOffRecovery(claim.intent.id, claim.epoch, later));
    this.logger.info({ ...factsOf(claim.intent), inMs, failure: textOf(failure) }, 'unknown.put-off');
  }

  private settleMsOf(intent: Intent): number {
    const action = this.tools.actions.get(intent.action);
    const access = this.tools.forges.get(intent.forge, intent.org);
    // Without a read there is nothing to wait for.
    if (!action || !access || action.recover?.settle === 'none' || !canRead(action, access)) return 0;
    return settleMsOf(this.tools, intent);
  }
}

function detailOf(attempts: readonly Attempt[]): Json {
  const snapshot = attempts.at(-1)?.snapshot ?? {};
  return {
    ...(typeof snapshot['sha'] === 'string' ? { sha: snapshot['sha'] } : {}),
    ...(typeof snapshot['password_hash'] === 'string' ? { password_hash: snapshot['password_hash'] } : {}),
  };
}
