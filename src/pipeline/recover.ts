import pLimit from 'p-limit';
import type { AnyAction } from '../actions/define-action.js';
import type { AnyRecovery, RecoveryContext, RecoveryFacts, Surplus, Verdict } from '../actions/support/recovery.js';
import { markOf } from '../actions/support/mark.js';
import type { Alerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import { callingAs, type Caller } from '../core/caller.js';
import { BotError, ForgeError } from '../core/errors.js';
import { hashOf, newId } from '../core/ids.js';
import type { Json } from '../core/json.js';
import type { Logger } from '../core/logger.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { IntentMove, JournalStore } from './journal-store.port.js';
import type { LookClaim, RecoveryClaim, RecoveryStore } from './recovery-store.port.js';
import type { Attempt, Intent } from '../core/run.js';
import type { Encryptor } from '../core/encryptor.js';
import type { ForgeHealth } from './execute/forge-health.js';
import type { ForgeAccess, Forges, OrgDirectory } from './execute/forges.js';
import { keepLease } from './execute/keep-lease.js';
import { persist } from './execute/persist.js';
import { resolveParams } from './execute/prepare-effect.js';
import type { TargetResolver } from './execute/resolve-target.js';
import { judgeFailure } from './execute/retry-policy.js';
import type { UnknownOutcomes } from './recover/unknown-outcomes.js';

export interface RecoveryDeps {
  readonly journal: JournalStore;
  readonly recovery: RecoveryStore;
  readonly actions: ReadonlyMap<string, AnyAction>;
  readonly forges: Forges;
  readonly orgs: OrgDirectory;
  readonly encryptor: Encryptor;
  readonly targets: TargetResolver;
  readonly health: ForgeHealth;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly alerts: Alerts;
}

export interface RecoveryOptions {
  /** Names this process in the store. */
  readonly owner: string;
  /** Default 5_000. */
  readonly leaseMs?: number;
  /** Reads under way at once; default 4. */
  readonly concurrency?: number;
}

/** Between two reads of which both must show the effect (reliability A15). */
const SECOND_READ_MS = 5_000;
const FIRST_REREAD_MS = 2_000;
const LAST_REREAD_MS = 300_000;
/** A read that gave no answer for so long: a person decides. */
const GIVE_UP_READING_MS = 24 * 3_600_000;
/** One look takes a few reads. */
const LOOK_LEASE_MS = 120_000;

/**
 * The way out of an unknown outcome: wait the settle time, read, let the action's own table decide, move along the state table. Nothing is
 * sent from here but the removal of an extra that bears our mark; "send again" makes the intent planned, and the ordinary way does the rest.
 */
export class OutcomeRecovery implements UnknownOutcomes {
  constructor(
    private readonly deps: RecoveryDeps,
    private readonly options: RecoveryOptions,
  ) {}

  /** Called as soon as an outcome is unknown: those that need no settle time are read about at once. */
  async handle(intent: Intent): Promise<void> {
    await this.recover(intent);
  }

  /** Everything whose read or look is due. Never throws: what fails comes again. */
  async pass(limit: number): Promise<void> {
    const { recovery, journal, logger } = this.deps;
    const slots = pLimit(this.options.concurrency ?? 4);
    const tried = async (work: () => Promise<void>, intentId: string): Promise<void> => {
      try {
        await work();
      } catch (error) {
        logger.warn({ intentId, error }, 'unknown outcome could not be read');
      }
    };
    // A store that is away at this very moment gives no ids; nobody waits for a pass, so nobody would catch what it throws.
    const due = async (ids: Promise<string[]>): Promise<string[]> => {
      try {
        return await ids;
      } catch (error) {
        logger.warn({ error }, 'unknown outcomes not listed');
        return [];
      }
    };
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
    const looks = (await due(recovery.dueLooks(limit))).map((id) => slots(tried, () => this.look(id), id));
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
    if (!action?.recover || attempts.every((attempt) => !isOpen(attempt)))
      return this.apply(claim, null, { is: 'person', reason: intent.reason ?? 'no answer' });
    const asked = await this.ask(action, action.recover, intent, attempts, claim.sentAgoMs);
    if ('again' in asked) return this.readLater(claim, asked.again);
    await this.apply(claim, action, asked.verdict);
  }

  /** Its owner wrote the answer down and was lost before it could move the intent. */
  private async settleByAnswer(claim: RecoveryClaim, { outcome, objectId }: Attempt): Promise<void> {
    const reason = `the answer was stored before its owner was lost: ${outcome ?? ''}`;
    const detail = detailOf(claim.attempts);
    if (outcome === 'done')
      await this.move(claim, {
        to: 'done',
        reason,
        result: { summary: reason, detail, ...(objectId === null ? {} : { objectId }) },
      });
    else if (outcome === 'refused') await this.move(claim, { to: 'refused', reason });
    else await this.move(claim, { to: 'planned', reason, dueAt: this.deps.clock.now() });
  }

  /** Read and decide; `again` = the read told nothing this time. */
  private async ask(
    action: AnyAction,
    recover: AnyRecovery,
    intent: Intent,
    attempts: readonly Attempt[],
    sentAgoMs: number,
  ): Promise<{ verdict: Verdict } | { again: string }> {
    try {
      const ready = await this.ready(action, recover, intent, attempts);
      if (typeof ready === 'string') return { verdict: { is: 'person', reason: ready } };
      const { context, wanted, canRead } = ready;
      const seen = canRead ? await recover.read(context, wanted as never) : null;
      const open = attempts.filter(isOpen);
      const facts: RecoveryFacts<unknown, unknown> = {
        wanted,
        seen,
        snapshot: context.snapshot,
        sends: open.length,
        equalFailures: equalFailures(attempts),
        said: attempts.at(-1)?.message ?? null,
        sentAgoMs,
        firstSentAt: open[0]?.sentAt ?? intent.plannedAt,
      };
      return { verdict: recover.decide(facts as never) };
    } catch (error) {
      if (error instanceof ForgeError) {
        this.deps.health.failed(intent.forge, intent.org, error);
        if (error.facts.status === 401) await this.deps.health.checkCredentials(intent.forge, intent.org);
        return { again: error.message };
      }
      if (error instanceof BotError && error.retry === 'permanent')
        return { verdict: { is: 'refused', reason: error.message } };
      throw error;
    }
  }

  /** Everything a read needs, or why there can be none. */
  private async ready(
    action: AnyAction,
    recover: AnyRecovery,
    intent: Intent,
    attempts: readonly Attempt[],
  ): Promise<{ context: RecoveryContext; wanted: Record<string, unknown>; canRead: boolean } | string> {
    const { forges, orgs, encryptor, targets } = this.deps;
    const access = forges.get(intent.forge, intent.org);
    const settings = orgs.get(intent.org);
    if (!access || !settings) return `${intent.forge} or ${intent.org} is not in the config any more`;
    const wanted = resolveParams(action, intent.params, settings.secrets, encryptor);
    const target = await targets.resolve(access, intent.forge, intent.org, intent.target);
    const context = {
      target,
      forge: pick(recover, access),
      snapshot: snapshotOf(attempts),
      hashOf: (value: Parameters<Encryptor['hash']>[0]) => encryptor.hash(value),
    };
    return { context, wanted, canRead: canRead(recover, access) };
  }

  private async readLater(claim: RecoveryClaim, failure: string): Promise<void> {
    const first = claim.attempts.find(isOpen)?.sentAt.getTime() ?? this.deps.clock.now().getTime();
    if (this.deps.clock.now().getTime() - first >= GIVE_UP_READING_MS)
      return this.apply(claim, null, { is: 'person', reason: `it could not be read for a day: ${failure}` });
    const full = Math.min(FIRST_REREAD_MS * 2 ** claim.reads, LAST_REREAD_MS);
    const inMs = Math.round(full / 2 + (full / 2) * this.deps.random());
    await persist(() =>
      this.deps.recovery.putOffRecovery(claim.intent.id, claim.epoch, {
        inMs,
        reason: `the outcome cannot be read now: ${failure}`,
        counted: 'reads',
      }),
    );
    this.deps.logger.info({ ...factsOf(claim.intent), inMs, failure }, 'unknown outcome will be read later');
  }

  private async apply(claim: RecoveryClaim, action: AnyAction | null, verdict: Verdict): Promise<void> {
    const { intent } = claim;
    switch (verdict.is) {
      case 'done':
        if (!verdict.sure && claim.sightings === 0) return this.seeAgain(claim, verdict.reason);
        await this.lookLater(claim, action);
        await this.move(claim, {
          to: 'done',
          reason: `confirmed by reading: ${verdict.reason}`,
          result: {
            summary: verdict.reason,
            detail: verdict.detail,
            ...(verdict.objectId === null ? {} : { objectId: verdict.objectId }),
          },
        });
        return;
      case 'unchanged':
      case 'conflict':
      case 'refused':
        return this.move(claim, {
          to: verdict.is,
          reason: verdict.reason,
          result: { summary: verdict.reason, detail: {} },
        });
      case 'person':
        return this.waitForPerson(intent, claim.epoch, verdict.reason);
      default:
        return this.sendAgain(claim, action, verdict.reason);
    }
  }

  private async seeAgain(claim: RecoveryClaim, reason: string): Promise<void> {
    const later = {
      inMs: SECOND_READ_MS,
      reason: `seen once, read once more: ${reason}`,
      counted: 'sightings',
    } as const;
    await persist(() => this.deps.recovery.putOffRecovery(claim.intent.id, claim.epoch, later));
  }

  private async sendAgain(claim: RecoveryClaim, action: AnyAction | null, reason: string): Promise<void> {
    const { intent, epoch } = claim;
    const { clock, random, recovery } = this.deps;
    const undo = await recovery.undoOf(intent.effectKey);
    if (undo)
      return this.move(claim, {
        to: 'suppressed',
        reason: `${undo.told}: not made again (event ${undo.eventId})`,
        result: { undone_by: undo.by, event: undo.eventId },
      });
    const failingForMs = intent.failingSince ? clock.now().getTime() - intent.failingSince.getTime() : 0;
    const judged = judgeFailure({ failure: 'not-sent', triesBefore: intent.tries, failingForMs }, random);
    if (judged.to !== 'planned') {
      const why = judged.to === 'dead' ? judged.because : judged.to;
      await this.moveBy(intent, epoch, { to: 'dead', reason: `${why}: ${reason}`, failed: 'counted' });
      this.deps.alerts.raise(
        `intent.dead/${intent.org}/${intent.rule}`,
        `an intent of ${intent.rule} in ${intent.org} was given up: ${why}: ${reason}`,
        {
          intentId: intent.id,
        },
      );
      return;
    }
    await this.lookLater(claim, action);
    await this.moveBy(intent, epoch, {
      to: 'planned',
      reason: `read after an unknown outcome: ${reason}`,
      dueAt: new Date(clock.now().getTime() + judged.waitMs),
      failed: 'counted',
    });
  }

  /** A keyless operation of which a call may still come through is looked at once more, when that cannot be any more. */
  private async lookLater({ intent, attempts }: RecoveryClaim, action: AnyAction | null): Promise<void> {
    if (!action?.recover?.sweep || !attempts.some(isOpen)) return;
    await persist(() => this.deps.recovery.lookAgain(intent.id, 2 * this.wholeSettleMs(intent)));
  }

  private async waitForPerson(intent: Intent, epoch: number, reason: string): Promise<void> {
    const told = `the outcome is unknown and the call is not made again: ${reason}; say \`forgehand resolve ${intent.id} --exists\` or \`--absent\``;
    if (!(await this.moveBy(intent, epoch, { to: 'waiting', reason: told }))) return;
    this.deps.alerts.raise(
      `intent.waiting/${intent.org}/${intent.rule}`,
      `an intent of ${intent.rule} in ${intent.org} waits for a person: ${told}`,
      {
        intentId: intent.id,
      },
    );
  }

  private async move(
    { intent, epoch }: RecoveryClaim,
    move: Pick<IntentMove, 'to' | 'reason' | 'dueAt'> & { result?: Json },
  ): Promise<void> {
    await this.moveBy(intent, epoch, move);
  }

  private async moveBy(
    intent: Intent,
    epoch: number,
    move: Pick<IntentMove, 'to' | 'reason' | 'dueAt' | 'failed'> & { result?: Json },
  ): Promise<boolean> {
    const moved = await persist(() =>
      this.deps.journal.move({ intentId: intent.id, epoch, from: ['unknown'], ...move }),
    );
    if (moved)
      this.deps.logger.info({ ...factsOf(intent), state: move.to, reason: move.reason }, 'unknown outcome settled');
    return moved;
  }

  /** Two calls may have come through: keep the oldest object, take away an extra that bears our mark and that nobody uses, else tell a person. */
  private async look(intentId: string): Promise<void> {
    const claim = await this.deps.recovery.claimLook(intentId, LOOK_LEASE_MS);
    if (!claim) return;
    const { intent } = claim;
    const action = this.deps.actions.get(intent.action);
    const recover = action?.recover;
    if (!action || !recover?.sweep) return this.deps.recovery.lookAgain(intentId, null);
    await callingAs(callerOf(intent), () => this.lookAt(claim, action, recover));
  }

  private async lookAt(claim: LookClaim, action: AnyAction, recover: AnyRecovery): Promise<void> {
    const { intent, attempts } = claim;
    const intentId = intent.id;
    if (!recover.sweep) return;
    const ready = await this.ready(action, recover, intent, attempts);
    const access = this.deps.forges.get(intent.forge, intent.org);
    if (typeof ready === 'string' || !ready.canRead || !access) return this.deps.recovery.lookAgain(intentId, null);
    const seen = await recover.read(ready.context, ready.wanted as never);
    const marks = access.marks !== false && access.offers(recover.sweep.removal);
    const surplus = recover.sweep.decide({
      wanted: ready.wanted,
      snapshot: ready.context.snapshot,
      seen,
      mark: markOf(intent.intentKey),
      marks,
    } as never);
    await this.applySurplus(claim, recover, ready.context, surplus);
    await this.deps.recovery.lookAgain(intentId, null);
  }

  private async applySurplus(
    { intent }: LookClaim,
    recover: AnyRecovery,
    context: RecoveryContext,
    surplus: Surplus,
  ): Promise<void> {
    const { journal, recovery, alerts, logger } = this.deps;
    if (surplus.is === 'fine') return;
    if (surplus.is === 'alert') {
      alerts.raise(
        `intent.doubled/${intent.org}/${intent.rule}`,
        `${surplus.reason} (rule ${intent.rule} in ${intent.org})`,
        { intentId: intent.id },
      );
      return;
    }
    for (const id of surplus.ids) {
      const operation = recover.sweep?.removal ?? '';
      const attempt = await recovery.noteRemoval(intent.id, {
        id: newId(),
        operation,
        requestHash: hashOf(operation, id),
      });
      await recover.sweep?.remove(context, id);
      await persist(() =>
        journal.recordAnswer(attempt.id, { outcome: 'done', status: null, message: surplus.reason, objectId: id }),
      );
      logger.warn({ ...factsOf(intent), objectId: id, reason: surplus.reason }, 'duplicate removed');
    }
  }

  private settleMsOf(intent: Intent): number {
    const recover = this.deps.actions.get(intent.action)?.recover;
    const access = this.deps.forges.get(intent.forge, intent.org);
    // Without a read there is nothing to wait for.
    if (!recover || !access || recover.settle === 'none' || !canRead(recover, access)) return 0;
    return this.wholeSettleMs(intent);
  }

  private wholeSettleMs(intent: Intent): number {
    return (this.deps.forges.get(intent.forge, intent.org)?.settleS ?? DEFAULT_SETTLE_S) * 1_000;
  }
}

const DEFAULT_SETTLE_S = 60;

function canRead(recover: AnyRecovery, access: ForgeAccess): boolean {
  return recover.reads.every((name) => access.offers(name));
}

function pick(recover: AnyRecovery, access: ForgeAccess): Partial<ForgeClient> {
  const names = [...recover.reads, ...recover.mayRead, ...(recover.sweep ? [recover.sweep.removal] : [])].filter(
    (name) => access.offers(name),
  );
  return Object.fromEntries(names.map((name) => [name, access.client[name]])) as Partial<ForgeClient>;
}

function callerOf({ org, upkeep }: Intent): Caller {
  return { lane: upkeep ? 'housekeeping' : 'webhook', org };
}

export function isOpen({ outcome }: Attempt): boolean {
  return outcome === null || outcome === 'unknown';
}

/** What was remembered before the first call that may have had its effect: what is there now beyond it may be ours. */
function snapshotOf(attempts: readonly Attempt[]): Attempt['snapshot'] {
  return attempts.find((attempt) => isOpen(attempt) && attempt.snapshot !== null)?.snapshot ?? null;
}

function detailOf(attempts: readonly Attempt[]): Json {
  const snapshot = attempts.at(-1)?.snapshot ?? {};
  return {
    ...(typeof snapshot['sha'] === 'string' ? { sha: snapshot['sha'] } : {}),
    ...(typeof snapshot['password_hash'] === 'string' ? { password_hash: snapshot['password_hash'] } : {}),
  };
}

/** The newest open calls in a row that were answered alike with a status 500. */
function equalFailures(attempts: readonly Attempt[]): number {
  const last = attempts.at(-1);
  if (!last || last.status !== 500) return 0;
  let count = 0;
  for (const attempt of [...attempts].reverse()) {
    if (attempt.status !== 500 || attempt.message !== last.message) break;
    count += 1;
  }
  return count;
}

function factsOf(intent: Intent): Record<string, unknown> {
  return { intentId: intent.id, runId: intent.runId, org: intent.org, rule: intent.rule, action: intent.action };
}
