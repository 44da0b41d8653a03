import type { Counter } from 'prom-client';
import type { AnyAction } from '../../actions/define-action.js';
import { textOf, type Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import type { Verdict } from '../../actions/support/recovery.js';
import { alert, type Alerts } from '../../core/alerts.js';
import type { Json } from '../../core/json.js';
import type { Logger } from '../../core/logger.js';
import type { Random } from '../../core/random.js';
import type { EffectTools } from '../execute/effect-tools.js';
import { persist } from '../execute/keep-claim.js';
import { judgeFailure, tellUntested, wakeOvertaken } from '../execute/settle.js';
import type { IntentMove } from '../journal-store.port.js';
import type { RecoveryClaim } from '../recovery-store.port.js';
import { factsOf } from './remove-duplicates.js';
import { isOpen, settleMsOf } from './read-back.js';

/** Between two reads of which both must show the effect. */
const SECOND_READ_MS = 5_000;

/** Moves an intent of unknown outcome along the state table, by what a read said. */
export class VerdictWriter {
  constructor(
    private readonly tools: EffectTools,
    private readonly random: Random,
    private readonly alerts: Alerts,
    private readonly logger: Logger,
    private readonly unconfirmed: Pick<Counter, 'inc'>,
  ) {}

  async apply(claim: RecoveryClaim, action: AnyAction | null, verdict: Verdict): Promise<void> {
    switch (verdict.is) {
      case 'done':
        if (!verdict.sure && claim.sightings === 0) return this.seeAgain(claim, verdict.reason);
        await this.lookLater(claim, action);
        tellUntested(this.alerts, claim.intent, verdict.reason);
        await this.move(claim, {
          to: 'done',
          reason: intentReason('intent.confirmed', { found: verdict.reason }),
          result: {
            detail: verdict.detail,
            ...(verdict.objectId === null ? {} : { objectId: verdict.objectId }),
          },
        });
        return;
      case 'unconfirmed':
        return this.endUnconfirmed(claim, verdict.reason);
      case 'unchanged':
      case 'conflict':
      case 'refused':
        await this.move(claim, { to: verdict.is, reason: verdict.reason, result: { detail: {} } });
        return;
      case 'person':
        return this.waitForPerson(claim, verdict.reason);
      default:
        return this.sendAgain(claim, action, verdict.reason);
    }
  }

  /** At most once, and nobody is asked: it counts as done by a code of its own, and is counted apart. */
  private async endUnconfirmed(claim: RecoveryClaim, reason: Reason): Promise<void> {
    const result = { detail: { code: reason.code } };
    if (await this.move(claim, { to: 'done', reason, result })) this.unconfirmed.inc({ action: claim.intent.action });
  }

  private async seeAgain(claim: RecoveryClaim, reason: Reason): Promise<void> {
    const later = {
      inMs: SECOND_READ_MS,
      reason: intentReason('intent.seen-once', { found: reason }),
      counted: 'sightings',
    } as const;
    await persist(() => this.tools.recovery.putOffRecovery(claim.intent.id, claim.epoch, later));
  }

  private async sendAgain(claim: RecoveryClaim, action: AnyAction | null, reason: Reason): Promise<void> {
    const { intent } = claim;
    const { clock, recovery } = this.tools;
    const undo = await recovery.undoOf(intent.effectKey);
    if (undo) {
      const undone = intentReason('intent.undone', { told: undo.summary, event: undo.eventId, intent: null });
      const result = { undone_by: undo.by, event: undo.eventId };
      await this.move(claim, { to: 'suppressed', reason: undone, result });
      return;
    }
    const failingForMs = intent.failingSince ? clock.now().getTime() - intent.failingSince.getTime() : 0;
    const judged = judgeFailure({ failure: 'not-sent', triesBefore: intent.tries, failingForMs }, () =>
      this.random.next(),
    );
    if (judged.to !== 'planned') {
      const { tries, hours } = judged.to === 'dead' ? judged : { tries: intent.tries, hours: null };
      const dead = intentReason('intent.given-up', { tries, hours, last: reason });
      await this.move(claim, { to: 'dead', reason: dead, failed: 'counted' });
      this.alerts.raise(
        `intent.dead/${intent.org}/${intent.rule}`,
        alert('intent.dead', { org: intent.org, rule: intent.rule, because: dead }),
        { intentId: intent.id },
      );
      return;
    }
    await this.lookLater(claim, action);
    await this.move(claim, {
      to: 'planned',
      reason: intentReason('intent.read-again', { found: reason }),
      dueAt: new Date(clock.now().getTime() + judged.waitMs),
      failed: 'counted',
      // Nothing at the forge stands behind a message.
      ...(action?.sends ? { aside: true } : {}),
    });
  }

  /** A keyless operation of which a call may still come through is looked at once more, when that cannot be any more. */
  private async lookLater({ intent, attempts }: RecoveryClaim, action: AnyAction | null): Promise<void> {
    if (!action?.recover?.duplicates || !attempts.some(isOpen)) return;
    await persist(() => this.tools.recovery.lookAgain(intent.id, 2 * settleMsOf(this.tools, intent)));
  }

  private async waitForPerson(claim: RecoveryClaim, reason: Reason): Promise<void> {
    const { intent } = claim;
    const why = intentReason('intent.ask-person', { because: reason, intent: intent.id });
    if (!(await this.move(claim, { to: 'waiting', reason: why }))) return;
    this.alerts.raise(
      `intent.waiting/${intent.org}/${intent.rule}`,
      alert('intent.waiting', { org: intent.org, rule: intent.rule, because: why }),
      { intentId: intent.id },
    );
  }

  /** @returns whether it was still unknown, and ours */
  async move(
    { intent, epoch }: Pick<RecoveryClaim, 'intent' | 'epoch'>,
    move: Pick<IntentMove, 'to' | 'reason' | 'dueAt' | 'failed' | 'aside'> & { result?: Json },
  ): Promise<boolean> {
    const moved = await persist(() =>
      this.tools.journal.move({ intentId: intent.id, epoch, from: ['unknown'], ...move }),
    );
    if (moved) await wakeOvertaken(this.tools, intent, move.to);
    if (moved)
      this.logger.info(
        {
          ...factsOf(intent),
          state: move.to,
          reason: move.reason && textOf(move.reason),
          code: move.reason?.code ?? null,
        },
        'unknown.settled',
      );
    return moved;
  }
}
