import type { AnyAction } from '../../actions/define-action.js';
import { lookAfter } from '../../actions/look-compare-write.js';
import { markOf } from '../../actions/support/compare.js';
import { decideDuplicates, type RecoveryContext, type Surplus } from '../../actions/support/recovery.js';
import { alert, type Alerts } from '../../core/alerts.js';
import { callingAs } from '../../core/caller.js';
import { hashOf, newId } from '../../core/ids.js';
import type { Logger } from '../../core/logger.js';
import { textOf } from '../../core/reason.js';
import type { Intent } from '../../core/run.js';
import type { EffectTools } from '../execute/effect-tools.js';
import { callerOfIntent, persist } from '../execute/keep-claim.js';
import type { LookClaim } from '../recovery-store.port.js';
import { prepareRead } from './read-back.js';

/** One look takes a few reads. */
const LOOK_LEASE_MS = 120_000;

/** Looks once more, when no call may come through any more, whether two of them did. */
export class DuplicateRemoval {
  constructor(
    private readonly tools: EffectTools,
    private readonly alerts: Alerts,
    private readonly logger: Logger,
  ) {}

  /** Two calls may have come through: keep the oldest object, remove a duplicate that bears our mark and that nobody uses, else tell a person. */
  async look(intentId: string): Promise<void> {
    const claim = await this.tools.recovery.claimLook(intentId, LOOK_LEASE_MS);
    if (!claim) return;
    const { intent } = claim;
    const action = this.tools.actions.get(intent.action);
    if (!action?.recover?.duplicates) return this.tools.recovery.lookAgain(intentId, null);
    await callingAs(callerOfIntent(intent), () => this.lookAt(claim, action));
  }

  private async lookAt(claim: LookClaim, action: AnyAction): Promise<void> {
    const { intent, attempts } = claim;
    const duplicates = action.recover?.duplicates;
    const ready = await prepareRead(this.tools, action, intent, attempts);
    if (duplicates && !('code' in ready) && ready.canRead) {
      const { access, context, call } = ready;
      const wanted = ready.wanted as never;
      const seen = await lookAfter(action, context as never, wanted, call);
      const mark = access.marks === false ? null : markOf(intent.intentKey);
      const isOffered = access.offers(duplicates.removal);
      const bearers = (seen === undefined ? [] : duplicates.list(seen as never, wanted, mark)).map(
        ({ id, isRemovable }) => ({ id, isRemovable: isRemovable && isOffered }),
      );
      await this.applySurplus(claim, action, context, decideDuplicates(action.about(wanted), call.snapshot, bearers));
    }
    await this.tools.recovery.lookAgain(intent.id, null);
  }

  private async applySurplus(
    { intent }: LookClaim,
    { recover }: AnyAction,
    context: RecoveryContext,
    surplus: Surplus,
  ): Promise<void> {
    const { alerts, logger } = this;
    const { journal, recovery } = this.tools;
    if (surplus.is === 'fine') return;
    if (surplus.is === 'alert') {
      alerts.raise(
        `intent.doubled/${intent.org}/${intent.rule}`,
        alert('intent.doubled', { org: intent.org, rule: intent.rule, found: surplus.reason }),
        { intentId: intent.id },
      );
      return;
    }
    for (const id of surplus.ids) {
      const operation = recover?.duplicates?.removal ?? '';
      const attempt = await recovery.noteRemoval(intent.id, {
        id: newId(),
        operation,
        requestHash: hashOf(operation, id),
      });
      await recover?.duplicates?.remove?.(context, id);
      await persist(() =>
        journal.recordAnswer(attempt.id, {
          outcome: 'done',
          status: null,
          message: textOf(surplus.reason),
          objectId: id,
        }),
      );
      logger.warn(
        { ...factsOf(intent), objectId: id, reason: textOf(surplus.reason), code: surplus.reason.code },
        'duplicate.removed',
      );
    }
  }
}

export function factsOf(intent: Intent): Record<string, unknown> {
  return { intentId: intent.id, runId: intent.runId, org: intent.org, rule: intent.rule, action: intent.action };
}
