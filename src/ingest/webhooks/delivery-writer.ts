import { BotError } from '../../core/errors.js';
import type { NewDelivery, Stored } from '../../inbox/arrival.js';
import type { InboxStore } from '../../inbox/inbox-store.js';

export interface WriterLimits {
  /** Deliveries in one commit. */
  readonly maxBatch: number;
  /** Commits under way at once. */
  readonly commits: number;
  /** Deliveries waiting for a commit; above it new ones are shed. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
  /** A delivery not stored by then is answered as such: the forge waits five seconds in all. */
  readonly answerWithinMs: number;
}

export const DEFAULT_WRITER_LIMITS: WriterLimits = {
  maxBatch: 200,
  commits: 1,
  maxWaiting: 2000,
  maxWaitingBytes: 64 * 1024 * 1024,
  answerWithinMs: 4000,
};

/** The writer gave up on time; the commit may still come, which harms nobody: the delivery is only not acknowledged. */
export class NotStoredInTime extends Error {}

interface Waiting {
  readonly delivery: NewDelivery;
  readonly settle: (outcome: Stored | Error) => void;
}

/**
 * Group commit: while one commit runs, the deliveries that come in wait together and share the next one. At rest a delivery is written as soon
 * as the requests that came with it are read.
 */
export class DeliveryWriter {
  private waiting: Waiting[] = [];
  private waitingBytes = 0;
  private running = 0;
  private isStarting = false;
  private idle: Array<() => void> = [];

  constructor(
    private readonly inbox: Pick<InboxStore, 'storeDeliveries'>,
    private readonly limits: WriterLimits = DEFAULT_WRITER_LIMITS,
    /** Ids of the new ones, after their commit; not waited for. */
    private readonly onStored: (ids: readonly string[]) => void = () => {},
  ) {}

  /** Whether the next delivery would have to be shed. */
  get isFull(): boolean {
    return this.waiting.length >= this.limits.maxWaiting || this.waitingBytes >= this.limits.maxWaitingBytes;
  }

  /**
   * Resolves after the commit that holds the delivery.
   * @throws NotStoredInTime, or what the store threw
   */
  write(delivery: NewDelivery): Promise<Stored> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new NotStoredInTime(`not stored within ${this.limits.answerWithinMs} ms`)), this.limits.answerWithinMs);
      this.waiting.push({
        delivery,
        settle: (outcome) => {
          clearTimeout(timer);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        },
      });
      this.waitingBytes += delivery.body.length;
      this.startNext();
    });
  }

  /** Resolves when nothing waits and no commit runs. */
  async drained(): Promise<void> {
    if (this.running === 0 && this.waiting.length === 0) return;
    await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** After the requests that lie ready in this turn: else the first would have a commit to itself, and all others would wait for it. */
  private startNext(): void {
    if (this.isStarting || this.running >= this.limits.commits || this.waiting.length === 0) return;
    this.isStarting = true;
    setImmediate(() => {
      this.isStarting = false;
      this.start();
      this.startNext();
    });
  }

  private start(): void {
    const batch = this.waiting.splice(0, this.limits.maxBatch);
    for (const { delivery } of batch) this.waitingBytes -= delivery.body.length;
    this.running += 1;
    void this.commit(batch).finally(() => {
      this.running -= 1;
      this.startNext();
      if (this.running === 0 && this.waiting.length === 0) for (const resolve of this.idle.splice(0)) resolve();
    });
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const stored = await this.inbox.storeDeliveries(batch.map(({ delivery }) => delivery));
      const fresh = stored.filter(({ duplicate }) => !duplicate).map(({ id }) => id);
      batch.forEach(({ settle }, index) => settle(stored[index] ?? new Error('the store gave no answer')));
      if (fresh.length > 0) this.onStored(fresh);
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      // One delivery that the store cannot hold must not take the others of its batch with it.
      if (batch.length > 1 && isDataError(cause)) for (const one of batch) await this.commit([one]);
      else for (const { settle } of batch) settle(error);
    }
  }
}

/** SQLSTATE class 22: the data itself, not the database, is the trouble. The store tells the state in its error's context. */
function isDataError(error: unknown): boolean {
  const state = error instanceof BotError ? error.context.sqlState : undefined;
  return typeof state === 'string' && /^22\w{3}$/.test(state);
}
