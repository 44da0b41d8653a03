import type { NewDelivery, NewEntry } from '../core/arrival.js';
import type { Clock } from '../core/clock.js';
import { isDataError } from '../core/errors.js';
import type { EntrySource } from '../core/event.js';
import { FairScheduler } from '../core/fair-scheduler.js';
import { hashOf, newId } from '../core/ids.js';
import { stringifyJson } from '../core/json.js';
import { PassingMap, PassingSet } from '../core/passing.js';
import { SharedDeadlines } from '../core/shared-deadlines.js';
import type { InboxStore } from './inbox-store.port.js';
import type { WorkQueue } from './work-queue.port.js';

export interface WriterLimits {
  /** Deliveries in one commit. */
  readonly maxBatch: number;
  /** Bodies of so many bytes fill a commit, the last of them however great: a statement is copied on its way to the store, more than once. */
  readonly maxBatchBytes: number;
  /** Commits under way at once; one more is for organizations of which none is under way, so that their deliveries do not wait for a flood's. */
  readonly commits: number;
  /** Deliveries waiting for a commit; above it those of an organization that has its share of them are shed. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
  /** A delivery not stored by then is answered as such: the forge waits five seconds in all. */
  readonly answerWithinMs: number;
}

export const DEFAULT_WRITER_LIMITS: WriterLimits = {
  maxBatch: 200,
  maxBatchBytes: 4 * 1024 * 1024,
  commits: 1,
  maxWaiting: 2000,
  maxWaitingBytes: 64 * 1024 * 1024,
  answerWithinMs: 4000,
};

/** The writer gave up on time; the commit may still come, which harms nobody: the delivery is only not acknowledged. */
export class NotStoredInTime extends Error {}

interface Waiting {
  readonly delivery: NewDelivery;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Group commit: while one commit runs, the deliveries that come in wait together and share the next one. At rest a delivery is written as soon
 * as the requests that came with it are read.
 */
export class DeliveryWriter {
  private readonly waiting = new FairScheduler<Waiting>();
  private readonly bytes = new PassingMap<string, number>();
  private waitingBytes = 0;
  private readonly deadlines: SharedDeadlines<Waiting>;
  /** For each commit under way, the organizations that it is of. */
  private readonly running = new PassingSet<ReadonlySet<string>>();
  private isStarting = false;
  private idle: Array<() => void> = [];

  constructor(
    private readonly inbox: Pick<InboxStore, 'storeDeliveries'>,
    private readonly queue: Pick<WorkQueue, 'ring'>,
    private readonly limits: WriterLimits = DEFAULT_WRITER_LIMITS,
  ) {
    const late = ({ reject }: Waiting): void =>
      reject(new NotStoredInTime(`not stored within ${limits.answerWithinMs} ms`));
    this.deadlines = new SharedDeadlines(limits.answerWithinMs, late);
  }

  /**
   * Whether the next delivery of this organization would have to be shed. What one fills up does not keep out another that has less than its
   * share, so that a little less than twice the limits may wait.
   */
  isFull(org: string): boolean {
    const { maxWaiting, maxWaitingBytes } = this.limits;
    if (this.waiting.size < maxWaiting && this.waitingBytes < maxWaitingBytes) return false;
    const owners = this.waiting.owners + (this.waiting.of(org) === 0 ? 1 : 0);
    return this.waiting.of(org) * owners >= maxWaiting || (this.bytes.get(org) ?? 0) * owners >= maxWaitingBytes;
  }

  /** Resolves after the commit that holds the delivery. @throws NotStoredInTime, or what the store threw */
  write(delivery: NewDelivery): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { delivery, resolve, reject };
      this.deadlines.begin(waiting);
      this.waiting.add(waiting, delivery.org);
      this.countBytes(delivery, 1);
      this.startNext();
    });
  }

  /** Resolves when nothing waits and no commit runs. */
  async drained(): Promise<void> {
    if (this.running.size === 0 && this.waiting.size === 0) return;
    await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private countBytes({ org, body }: NewDelivery, sign: 1 | -1): void {
    this.waitingBytes += sign * body.length;
    const left = (this.bytes.get(org) ?? 0) + sign * body.length;
    if (left > 0) this.bytes.set(org, left);
    else this.bytes.delete(org);
  }

  /** After the requests that lie ready in this turn: else the first would have a commit to itself, and all others would wait for it. */
  private startNext(): void {
    if (this.isStarting || this.running.size > this.limits.commits || this.waiting.size === 0) return;
    this.isStarting = true;
    setImmediate(() => {
      this.isStarting = false;
      const batch = this.nextBatch();
      if (batch.length > 0) void this.commit(batch);
    });
  }

  private nextBatch(): Waiting[] {
    const { maxBatch, maxBatchBytes, commits } = this.limits;
    const underWay = this.running.size < commits ? [] : [...this.running].flatMap((orgs) => [...orgs]);
    const batch: Waiting[] = [];
    for (let bytes = 0; batch.length < maxBatch && bytes < maxBatchBytes;) {
      const next = this.waiting.next({ mayBegin: (org) => !underWay.includes(org) })?.item;
      if (!next) break;
      this.countBytes(next.delivery, -1);
      bytes += next.delivery.body.length;
      batch.push(next);
    }
    return batch;
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    const orgs = new Set(batch.map(({ delivery }) => delivery.org));
    this.running.add(orgs);
    this.startNext();
    await this.store(batch);
    for (const one of batch) this.waiting.ended(one);
    this.running.delete(orgs);
    this.startNext();
    if (this.running.size === 0 && this.waiting.size === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  private async store(batch: readonly Waiting[]): Promise<void> {
    const deliveries = batch.map(({ delivery }) => delivery);
    try {
      await this.inbox.storeDeliveries(deliveries);
    } catch (cause) {
      // One delivery that the store cannot hold must not take the others of its batch with it.
      if (batch.length > 1 && isDataError(cause)) for (const one of batch) await this.store([one]);
      else for (const waiting of batch) this.settle(waiting, cause instanceof Error ? cause : new Error(String(cause)));
      return;
    } finally {
      // What served the statement may stay in memory for seconds, and would keep the bodies.
      deliveries.length = 0;
    }
    for (const waiting of batch) this.settle(waiting);
    for (const org of new Set(batch.map(({ delivery }) => delivery.org))) this.queue.ring('arrivals', org);
  }

  private settle(waiting: Waiting, error?: Error): void {
    this.deadlines.done(waiting);
    if (error) waiting.reject(error);
    else waiting.resolve();
  }
}

/** One organization on one forge, as a poller reads it. */
export interface PolledOrg {
  readonly forge: string;
  readonly org: string;
}

/** A row as read, with the key that names it in the inbox. */
export interface ReadRow {
  readonly entryKey: string;
  readonly row: unknown;
  /** From before the first start: kept as known, never an event. */
  readonly isHistory: boolean;
}

export interface EntryWriterDeps {
  readonly inbox: Pick<InboxStore, 'storeEntries' | 'knownEntries'>;
  readonly queue: Pick<WorkQueue, 'ring'>;
  readonly clock: Clock;
  readonly counted?: (what: { org: string; source: EntrySource; stored: number }) => void;
}

const BATCH = 200;
const HISTORY_REASON = 'from before the first start';

/** Puts rows that a poller read into the inbox and rings. */
export class EntryWriter {
  constructor(
    private readonly deps: EntryWriterDeps,
    private readonly polled: PolledOrg,
    private readonly source: EntrySource,
  ) {}

  /** Those of the rows that the inbox does not hold yet, each once, in the order given. */
  async unknown<Row extends ReadRow>(rows: readonly Row[]): Promise<Row[]> {
    if (rows.length === 0) return [];
    const known = await this.deps.inbox.knownEntries(
      this.polled.forge,
      this.polled.org,
      this.source,
      rows.map(({ entryKey }) => entryKey),
    );
    return rows.filter(({ entryKey }) => !known.has(entryKey) && known.add(entryKey));
  }

  /**
   * Store rows in the order given, a batch per commit. Pass the oldest first: if the process ends between two batches, the newer rows are still
   * unknown and the next poll goes on from there.
   * @returns how many became arrivals that wait for their event
   */
  async store(rows: readonly ReadRow[]): Promise<number> {
    let count = 0;
    for (let i = 0; i < rows.length; i += BATCH) count += await this.storeBatch(rows.slice(i, i + BATCH));
    this.deps.counted?.({ org: this.polled.org, source: this.source, stored: count });
    return count;
  }

  private async storeBatch(rows: readonly ReadRow[]): Promise<number> {
    const history = rows.filter(({ isHistory }) => isHistory);
    if (history.length > 0)
      await this.deps.inbox.storeEntries(
        history.map((row) => this.entryOf(row)),
        { reason: HISTORY_REASON, code: 'before_first_start' },
      );
    const fresh = rows.filter(({ isHistory }) => !isHistory);
    if (fresh.length === 0) return 0;
    const stored = await this.deps.inbox.storeEntries(fresh.map((row) => this.entryOf(row)));
    const count = stored.filter(({ duplicate }) => !duplicate).length;
    if (count > 0) this.deps.queue.ring('arrivals', this.polled.org);
    return count;
  }

  private entryOf({ entryKey, row }: ReadRow): NewEntry {
    const text = stringifyJson(row);
    return {
      id: newId(),
      ...this.polled,
      source: this.source,
      entryKey,
      text,
      textHash: hashOf(text),
      readAt: this.deps.clock.now(),
    };
  }
}
