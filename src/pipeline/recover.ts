import pLimit from 'p-limit';
import { textOf, type Reason } from '../core/reason.js';
import { intentReason } from '../core/run-reasons.js';
import type { AnyAction } from '../actions/define-action.js';
import type { Verdict } from '../actions/support/recovery.js';
import type { Alerts } from '../core/alerts.js';
import { backoffMs } from '../platform/backoff.js';
import { callingAs } from '../core/caller.js';
import type { Clock } from '../core/clock.js';
import { BotError, ForgeError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import type { Logger } from '../core/logger.js';
import type { Attempt, Intent } from '../core/run.js';
import type { ForgeHealth } from './execute/forge-access.js';
import { keepLease, persist } from './execute/keep-claim.js';
import type { JournalStore } from './journal-store.port.js';
import { VerdictWriter } from './recover/apply-verdict.js';
import { callerOf, DuplicateRemoval, factsOf } from './recover/remove-duplicates.js';
import { canRead, isOpen, readBack, settleMsOf, type ReadBackDeps } from './recover/read-back.js';
import { reasonOf, type UnknownOutcomes } from './execute/settle.js';
import type { RecoveryClaim, RecoveryStore } from './recovery-store.port.js';

interface RecoveryDeps extends ReadBackDeps {
  readonly journal: JournalStore;
  readonly recovery: RecoveryStore;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly health: ForgeHealth;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly alerts: Alerts;
}

interface RecoveryOptions {
  /** Names this process in the store. */
  readonly owner: string;
  /** Default 5_000. */
  readonly leaseMs?: number;
  /** Reads under way at once; default 4. */
  readonly concurrency?: number;
}

const REREAD = { firstMs: 2_000, maxMs: 300_000, between: [0.5, 1] } as const;
/** A read that gave no answer for so long: a person decides. */
const GIVE_UP_READING_MS = 24 * 3_600_000;

/**
 * The way out of an unknown outcome: wait the settle time, read, let the action's own table decide, move along the state table. Nothing is
 * sent from here but the removal of a duplicate that bears our mark; "send again" makes the intent planned, and the ordinary way does the rest.
 */
export class OutcomeRecovery implements UnknownOutcomes {
  private readonly verdicts: VerdictWriter;
  private readonly duplicates: DuplicateRemoval;

  constructor(
    private readonly deps: RecoveryDeps,
    private readonly options: RecoveryOptions,
  ) {
    this.verdicts = new VerdictWriter(deps);
    this.duplicates = new DuplicateRemoval(deps);
  }

  /** Called as soon as an outcome is unknown: those that need no settle time are read about at once. */
  async handle(intent: Intent): Promise<void> {
    await this.recover(intent);
  }

  /** Everything whose read or look is due. Never throws: what fails comes again. */
  async pass(limit: number): Promise<void> {
    const { recovery, journal, logger, health } = this.deps;
    const slots = pLimit(this.options.concurrency ?? 4);
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

  private async recover(found: Intent): Promise<void> {
    // Nothing is lost by waiting: it stays due.
    if (this.deps.health.holds(found.forge, found.org)) return;
    const claim = await this.deps.recovery.claimRecovery(
      found.id,
      this.options.owner,
      this.options.leaseMs ?? 5_000,
      this.settleMsOf(found),
    );
    if (!claim) return;
    const lease = keepLease(this.deps.journal, claim);
    try {
      await callingAs(callerOf(found), () => this.work(claim));
    } finally {
      lease.release();
    }
  }

  private async work(claim: RecoveryClaim): Promise<void> {
    const { intent, attempts } = claim;
    const stored = attempts.at(-1);
    if (stored && stored.outcome !== null && stored.outcome !== 'unknown') return this.settleByAnswer(claim, stored);
    const action = this.deps.actions.get(intent.action);
    if (!action || attempts.every((attempt) => !isOpen(attempt)))
      return this.verdicts.apply(claim, null, {
        is: 'person',
        reason: intent.reason ?? intentReason('intent.no-answer'),
      });
    const asked = await this.ask(claim, action);
    if ('again' in asked) return this.readLater(claim, asked.again);
    await this.verdicts.apply(claim, action, asked.verdict);
  }

  /** Read and decide; `again` = the read told nothing this time. */
  private async ask(
    { intent, attempts, sentAgoMs }: RecoveryClaim,
    action: AnyAction,
  ): Promise<{ verdict: Verdict } | { again: Reason }> {
    try {
      return { verdict: await readBack(this.deps, action, intent, attempts, sentAgoMs) };
    } catch (error) {
      if (error instanceof ForgeError) {
        this.deps.health.failed(intent.forge, intent.org, error);
        if (error.facts.status === 401) await this.deps.health.checkCredentials(intent.forge, intent.org);
        return { again: reasonOf(error) };
      }
      if (error instanceof BotError && error.retry === 'permanent')
        return { verdict: { is: 'refused', reason: reasonOf(error) } };
      throw error;
    }
  }

  /** Its owner wrote the answer down and was lost before it could move the intent. */
  private async settleByAnswer(claim: RecoveryClaim, { outcome, objectId }: Attempt): Promise<void> {
    const reason = intentReason('intent.answer-stored', { outcome: outcome ?? '' });
    const detail = detailOf(claim.attempts);
    if (outcome === 'done')
      await this.verdicts.move(claim, {
        to: 'done',
        reason,
        result: { detail, ...(objectId === null ? {} : { objectId }) },
      });
    else if (outcome === 'refused') await this.verdicts.move(claim, { to: 'refused', reason });
    else await this.verdicts.move(claim, { to: 'planned', reason, dueAt: this.deps.clock.now() });
  }

  private async readLater(claim: RecoveryClaim, failure: Reason): Promise<void> {
    const first = claim.attempts.find(isOpen)?.sentAt.getTime() ?? this.deps.clock.now().getTime();
    if (this.deps.clock.now().getTime() - first >= GIVE_UP_READING_MS)
      return this.verdicts.apply(claim, null, {
        is: 'person',
        reason: intentReason('intent.unreadable-for-long', { because: failure }),
      });
    const inMs = backoffMs(claim.reads, REREAD, this.deps.random);
    const later = { inMs, reason: intentReason('intent.unreadable', { because: failure }), counted: 'reads' } as const;
    await persist(() => this.deps.recovery.putOffRecovery(claim.intent.id, claim.epoch, later));
    this.deps.logger.info({ ...factsOf(claim.intent), inMs, failure: textOf(failure) }, 'unknown.put-off');
  }

  private settleMsOf(intent: Intent): number {
    const action = this.deps.actions.get(intent.action);
    const access = this.deps.forges.get(intent.forge, intent.org);
    // Without a read there is nothing to wait for.
    if (!action || !access || action.recover?.settle === 'none' || !canRead(action, access)) return 0;
    return settleMsOf(this.deps, intent);
  }
}

function detailOf(attempts: readonly Attempt[]): Json {
  const snapshot = attempts.at(-1)?.snapshot ?? {};
  return {
    ...(typeof snapshot['sha'] === 'string' ? { sha: snapshot['sha'] } : {}),
    ...(typeof snapshot['password_hash'] === 'string' ? { password_hash: snapshot['password_hash'] } : {}),
  };
}
