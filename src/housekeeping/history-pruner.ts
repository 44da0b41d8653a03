import { setTimeout as rest } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Encryptor } from '../core/encryptor.js';
import { historyBegins } from '../polling/kept-position.js';
import { auditKey } from './audit/audit-check.js';
import { RetentionStore, type HistoryKind } from './retention-store.port.js';

/** Rows with all that hangs on them in one transaction: an embedded store does nothing else meanwhile. */
const BATCH = 100;
/** Events take their arrivals and runs with them. */
const KINDS: readonly HistoryKind[] = ['events', 'runs', 'arrivals'];

/** Deletes history that ended long ago, a batch after the other. It rests after each as long as that took, as the sealer of the audit chain does. */
@Injectable()
export class HistoryPruner {
  private isStopped = false;

  constructor(
    private readonly store: RetentionStore,
    private readonly encryptor: Encryptor,
    private readonly clock: Clock,
  ) {}

  /** @returns how many rows of each kind were deleted; kinds of which there were none are left out */
  async run(days: number): Promise<ReadonlyMap<HistoryKind, number>> {
    const age = { now: this.clock.now(), days, key: auditKey(this.encryptor) };
    // Before any key goes: what a list shows from before it is history for every poll.
    await this.store.moveBeginnings(historyBegins(age.now, days));
    const deleted = new Map<HistoryKind, number>();
    for (const kind of KINDS) {
      let after: string | null = '';
      while (after !== null && !this.isStopped) {
        const fromMs = this.clock.monotonicMs();
        const batch: { deleted: number; last: string | null } = await this.store.deleteEnded(kind, after, BATCH, age);
        after = batch.last;
        if (batch.deleted > 0) deleted.set(kind, batch.deleted + (deleted.get(kind) ?? 0));
        await rest(this.clock.monotonicMs() - fromMs);
      }
    }
    return deleted;
  }

  /** Ends after the batch under way. */
  stop(): void {
    this.isStopped = true;
  }
}
