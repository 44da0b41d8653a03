import { setMaxListeners } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { ensure } from '../actions/look-compare-write.js';
import { markOf } from '../actions/support/compare.js';
import { ThisProcess } from '../config/this-process.js';
import { isRefused } from '../forge/forge-client.js';
import { Alerts } from '../core/alerts.js';
import { BudgetSpent, type BudgetLimit } from '../core/budgets.js';
import { callingAs } from '../core/caller.js';
import { ForgeError } from '../core/errors.js';
import { isJsonObject, type Json } from '../core/json.js';
import type { Reason } from '../core/reason.js';
import { intentReason } from '../core/run-reasons.js';
import type { Intent } from '../core/run.js';
import { SecurityLog } from '../core/security-log.js';
import type { RuleStatus } from '../rules/revisions/active-revisions.port.js';
import { RevisionStatus } from '../rules/revisions/rule-status.js';
import { Budgets } from './execute/budget-keeper.js';
import { EffectTools } from './execute/effect-tools.js';
import { classifyError, endingOf, endingOfStatus, Settler, unreadCause, wakeOvertaken } from './execute/settle.js';
import type { Aftermath, Ending } from './execute/settle.js';
import { ForgeHealth, type ForgeAccess, type OrgSettings } from './execute/forge-access.js';
import { GuardedForge, ReadForAnother, SharedReads } from './execute/guarded-forge.js';
import { callerOfIntent, keepLease } from './execute/keep-claim.js';
import { CONTRADICTED, LiveState, NO_HISTORY, findObjection, sentOnce } from './execute/objections.js';
import { findMeans, notedIn, prepareEffect, refusalOf, type Earlier, type Means } from './execute/prepare-effect.js';
import type { Claim } from './journal-store.port.js';
import { isOpen } from './recover/read-back.js';

/** A killed worker's work is resumed after this time. */
const LEASE_MS = 5_000;
const LOCKED_OUT_WAIT_MS = 5_000;

/**
 * One intent from its claim to its end. Reading this file is reading what the bot does to a forge:
 * claim -> find forge, action, rights -> ask whether the rule still stands -> pin target, open parameters -> ensure behind the guard -> settle.
 */
@Injectable()
export class IntentToEffect {
  private readonly stopping = new AbortController();
  private readonly reads: SharedReads;
  private readonly live: LiveState;

  constructor(
    private readonly tools: EffectTools,
    private readonly settler: Settler,
    @Inject(RevisionStatus) private readonly status: RuleStatus,
    private readonly health: ForgeHealth,
    private readonly budgets: Budgets,
    private readonly alerts: Alerts,
    private readonly security: SecurityLog,
    @Inject(ThisProcess) private readonly self: Pick<ThisProcess, 'name'>,
  ) {
    this.live = new LiveState(tools.recovery);
    // Every call under way listens to it: their number is the concurrency, not a leak.
    setMaxListeners(0, this.stopping.signal);
    this.reads = new SharedReads(tools.clock);
  }

  /** Those of them that may be done now: not done by another, due, not paused, in turn. */
  async claim(intentIds: readonly string[]): Promise<Claim[]> {
    if (this.stopping.signal.aborted || intentIds.length === 0) return [];
    return this.tools.journal.claim(intentIds, this.self.name, LEASE_MS);
  }

  async execute(claim: Claim): Promise<Aftermath> {
    const lease = keepLease(this.tools.journal, claim);
    try {
      const calls: CallsMade = new Map();
      const work = async (): Promise<Aftermath> => {
        const ending = withCalls(await this.perform(claim, calls), calls);
        const aftermath = await this.settler.settle(claim, ending);
        await wakeOvertaken(this.tools, claim.intent, ending.to);
        return aftermath;
      };
      return await callingAs(callerOfIntent(claim.intent), work);
    } finally {
      lease.release();
    }
  }

  /** End calls that are under way; what was sent and not answered is unknown then. Used when the time for a graceful stop is over. */
  abort(): void {
    this.stopping.abort();
  }

  /**
   * @param shares whether reads of others of its run are its own; what is tried again reads for itself
   * @param wasMoved its target was renamed meanwhile, and is found anew
   */
  private async perform(
    claim: Pick<Claim, 'intent' | 'epoch' | 'overtakenBy' | 'hasHistory' | 'isDoubted'>,
    calls: CallsMade,
    shares = claim.epoch === 1,
    wasMoved = false,
  ): Promise<Ending> {
    const { intent, epoch } = claim;
    const means = findMeans(this.tools, intent);
    if ('lacks' in means) return this.refused(intent, means.lacks, null, means.power);
    const { action, access, settings } = means;
    const refusal = refusalOf(intent);
    if (refusal) return refusal;
    const hold = this.health.holds(intent.forge, intent.org);
    if (hold) return { to: 'given-back', reason: hold.reason, wrote: null, waitMs: hold.againInMs };
    const status = await this.status.of(intent);
    if (status.is !== 'wanted') return endingOfStatus(status);
    const { journal, clock } = this.tools;
    const recovery = claim.hasHistory ? sentOnce(this.tools.recovery) : NO_HISTORY;
    const objection = await findObjection({ journal, clock, recovery, alerts: this.alerts }, claim, action);
    // What noted something ends by itself: it may have something to tell people.
    const isOvertaken = objection?.to === 'cancelled' && Object.keys(notedIn(intent)).length > 0;
    if (objection && !isOvertaken) return objection;
    const budgets = await this.budgetsOf(intent, settings);
    if ('to' in budgets) return budgets;
    const spent = await journal.spentBudget(budgets);
    if (spent) return this.budgets.hold(intent, spent);
    this.budgets.letThrough(budgets);
    const guard = this.guard(means, intent, epoch, budgets, shares, calls);
    try {
      const guarded: ForgeAccess = { client: guard.client, offers: (name) => access.offers(name) };
      const prepared = await prepareEffect({ ...this.tools, recovery }, intent, means, guard, guarded, {
        ...(await this.earlier(intent, access)),
        overtakenBy: isOvertaken ? claim.overtakenBy : null,
      });
      if ('reason' in prepared) {
        const { code, reason } = prepared;
        return this.refused(intent, reason, { code }, code);
      }
      const { target, params, context } = prepared;
      const getIssue = access.offers('getIssue') ? guard.client.getIssue : undefined;
      const reason = action.awaits || !claim.isDoubted ? null : await this.live.contradiction(intent, target, getIssue);
      if (reason !== null) return { to: 'cancelled', reason, wrote: null, detail: { code: CONTRADICTED } };
      return endingOf(await ensure(action, context, params), guard.written, intent.id);
    } catch (error) {
      if (error instanceof ReadForAnother) return this.perform(claim, calls, false, wasMoved);
      this.doubtTarget(intent, error);
      // A redirected read: nothing was written, and the forge knows the name of now.
      if (isMoved(error) && !guard.written && !wasMoved) return this.perform(claim, calls, false, true);
      if (error instanceof BudgetSpent && guard.written === null) return this.budgets.hold(intent, error.spent);
      return (
        (await this.lockedOut(intent, error, guard)) ?? this.ownFailure(intent, classifyError(error, guard.written))
      );
    }
  }

  /** What got no answer twice is asked about: where the forge answers others, the reason is its own, and it steps aside. */
  private async ownFailure(intent: Intent, ending: Ending): Promise<Ending> {
    if (ending.to !== 'failed' || ending.failure !== 'no-answer' || intent.tries === 0) return ending;
    const answersOthers = await this.health.answersOthers(intent.forge, intent.org);
    return answersOthers ? { ...ending, failure: 'read-failed' } : ending;
  }

  /** The next try asks the forge again whose the repository is, and under which name. */
  private doubtTarget({ forge, target }: Intent, error: unknown): void {
    if (isMoved(error)) this.tools.targets.doubt(forge, target, 'moved');
    else if (isRefused(error, 404)) this.tools.targets.doubt(forge, target, 'missing');
  }

  /** Who caused it may be known to the forge alone: while that cannot be asked, the intent waits. */
  private async budgetsOf(intent: Intent, settings: OrgSettings): Promise<BudgetLimit[] | Ending> {
    try {
      return await this.budgets.of(intent, settings);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      this.health.failed(intent.forge, intent.org, error);
      return unreadCause(error);
    }
  }

  /** A call that was refused for want of credentials: is it the call, or are they not accepted any more? */
  private async lockedOut(intent: Intent, error: unknown, { written }: GuardedForge): Promise<Ending | null> {
    if (!(error instanceof ForgeError) || error.kind !== 'refused' || error.facts.status !== 401) return null;
    if ((await this.health.checkCredentials(intent.forge, intent.org)) === 'accepted') return null;
    return {
      to: 'given-back',
      reason: intentReason('intent.locked-out', { forge: intent.forge }),
      wrote: written,
      waitMs: LOCKED_OUT_WAIT_MS,
    };
  }

  /** Not allowed; where the operator did not allow it, the security log has a line. */
  private refused(intent: Intent, reason: Reason, detail: Json, power?: string): Ending {
    const { org, action, rule, runId, id: intentId } = intent;
    if (power !== undefined)
      this.security.record({ class: 'power_refused', org, power, action, rule, runId, intentId });
    return { to: 'refused', reason, wrote: null, detail };
  }

  private async earlier({ id, attempts, intentKey }: Intent, { marks }: ForgeAccess): Promise<Earlier> {
    const openCalls = attempts === 0 ? 0 : (await this.tools.journal.attemptsOfIntent(id)).filter(isOpen).length;
    return { earlierCalls: attempts, openCalls, mark: openCalls > 0 && marks !== false ? markOf(intentKey) : null };
  }

  private guard(
    { access, action }: Means,
    intent: Intent,
    epoch: number,
    budgets: readonly BudgetLimit[],
    shares: boolean,
    calls: CallsMade,
  ): GuardedForge {
    const { status, health } = this;
    const { journal, clock, encryptor, messenger } = this.tools;
    return new GuardedForge({
      client: access.client,
      messenger,
      journal,
      clock,
      epoch,
      intentId: intent.id,
      mode: intent.mode,
      budgets,
      reads: shares ? this.reads.of(intent.runId, intent.forge) : null,
      status: () => status.of(intent),
      hashOf: (secret) => encryptor.hash(secret),
      signal: this.stopping.signal,
      called: (name) => void calls.set(name, (calls.get(name) ?? 0) + 1),
      answered: (error) =>
        error === null ? health.answered(intent.forge, intent.org) : health.failed(intent.forge, intent.org, error),
    });
  }
}

function isMoved(error: unknown): boolean {
  return error instanceof ForgeError && error.kind === 'moved';
}

/** By operation, of one turn of an intent. */
type CallsMade = Map<string, number>;

/** What it cost is kept with what came of it, beside what was predicted. */
function withCalls(ending: Ending, calls: CallsMade): Ending {
  if (!('detail' in ending) || !isJsonObject(ending.detail) || calls.size === 0) return ending;
  return { ...ending, detail: { ...ending.detail, calls: Object.fromEntries(calls) } };
}
