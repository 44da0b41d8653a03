import { setTimeout as rest } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Encryptor } from '../core/encryptor.js';
import { historyBegins } from '../polling/kept-position.js';
import { auditKey } from './audit/audit-check.js';
import { ageBefore, RetentionStore, type HistoryKind, type OldRows } from './retention-store.port.js';

/** Rows that are looked at together. */
const PAGE = 5_000;
/** Of one organization in one transaction, with all that hangs on them: an embedded store does nothing else meanwhile. */
const BATCH = 200;
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
  async run(days: number): Promise<ReadonlyMap<HistoryKind | 'revisions', number>> {
    const age = { now: this.clock.now(), days, key: auditKey(this.encryptor) };
    // Before any key goes: what a list shows from before it is history for every poll.
    await this.store.moveBeginnings(historyBegins(age.now, days));
    const deleted = new Map<HistoryKind, number>();
    for (const kind of KINDS)
      for await (const ids of this.batches(kind, ageBefore(age))) {
        const count = await this.withRest(() => this.store.deleteEnded(kind, ids, age));
        if (count > 0) deleted.set(kind, count + (deleted.get(kind) ?? 0));
      }
    if (this.isStopped) return deleted;
    const revisions = await this.store.deleteRevisions(ageBefore(age));
    return revisions === 0 ? deleted : new Map([...deleted, ['revisions', revisions]]);
  }

  /** Forgets texts of deliveries that came so many days ago. @returns how many */
  async forgetRepeats(days: number): Promise<number> {
    const before = ageBefore({ now: this.clock.now(), days });
    let forgotten = 0;
    for (let from: number | null = 0; from !== null && !this.isStopped;) {
      const at: number = from;
      const { count, next } = await this.withRest(() => this.store.forgetRepeats(before, at));
      forgotten += count;
      from = next;
    }
    return forgotten;
  }

  private async withRest<T>(work: () => Promise<T>): Promise<T> {
    const fromMs = this.clock.monotonicMs();
    const outcome = await work();
    await rest(this.clock.monotonicMs() - fromMs);
    return outcome;
  }

  private async *batches(kind: HistoryKind, before: Date): AsyncGenerator<readonly string[]> {
    for (let after: string | null = ''; after !== null;) {
      const page: OldRows = await this.store.oldRows(kind, after, PAGE, before);
      for (const ids of page.ids.values())
        for (let from = 0; from < ids.length; from += BATCH) {
          if (this.isStopped) return;
          yield ids.slice(from, from + BATCH);
        }
      after = page.last;
    }
  }

  /** Ends after the batch under way. */
  stop(): void {
    this.isStopped = true;
  }
}
