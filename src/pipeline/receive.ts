import type { NewDelivery, NewEntry } from '../core/arrival.js';
import type { Clock } from '../core/clock.js';
import type { EntrySource } from '../core/event.js';
import { hashOf, newId } from '../core/ids.js';
import { stringifyJson } from '../core/json.js';
import { SharedDeadlines } from '../platform/shared-deadlines.js';
import { GroupCommit } from '../platform/group-commit.js';
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

/** Stores deliveries in group commits, and rings after each for the organizations that it is of. */
export class DeliveryWriter {
  private readonly commits: GroupCommit<NewDelivery>;
  private readonly deadlines: SharedDeadlines<(error: Error) => void>;

  constructor(
    private readonly inbox: Pick<InboxStore, 'storeDeliveries'>,
    private readonly queue: Pick<WorkQueue, 'ring'>,
    private readonly limits: WriterLimits = DEFAULT_WRITER_LIMITS,
  ) {
    const { maxBatch: most, maxBatchBytes: mostSize, commits: atOnce, answerWithinMs } = limits;
    const sizeOf = ({ body }: NewDelivery): number => body.length;
    this.commits = new GroupCommit((deliveries) => this.store(deliveries), { most, mostSize, sizeOf, atOnce });
    const late = (reject: (error: Error) => void): void =>
      reject(new NotStoredInTime(`not stored within ${answerWithinMs} ms`));
    this.deadlines = new SharedDeadlines(answerWithinMs, late);
  }

  /**
   * Whether the next delivery of this organization would have to be shed. What one fills up does not keep out another that has less than its
   * share, so that a little less than twice the limits may wait.
   */
  isFull(org: string): boolean {
    const { maxWaiting, maxWaitingBytes } = this.limits;
    const { all, allSize, own, ownSize, owners } = this.commits.load(org);
    if (all < maxWaiting && allSize < maxWaitingBytes) return false;
    const sharers = owners + (own === 0 ? 1 : 0);
    return own * sharers >= maxWaiting || ownSize * sharers >= maxWaitingBytes;
  }

  /** Resolves after the commit that holds the delivery. @throws NotStoredInTime, or what the store threw */
  write(delivery: NewDelivery): Promise<void> {
    return new Promise((resolve, reject) => {
      this.deadlines.begin(reject);
      const ended = (): void => this.deadlines.done(reject);
      this.commits.add(delivery, delivery.org).then(resolve, reject).finally(ended);
    });
  }

  /** Resolves when nothing waits and no commit runs. */
  drained(): Promise<void> {
    return this.commits.drained();
  }

  private async store(deliveries: readonly NewDelivery[]): Promise<void[]> {
    const orgs = new Set(deliveries.map(({ org }) => org));
    await this.inbox.storeDeliveries(deliveries);
    for (const org of orgs) this.queue.ring('arrivals', org);
    return [];
  }
}

/** One organization on one forge, as a poller reads it. */
export interface PolledOrg {
  readonly forge: string;
  readonly org: string;
  /** Its name at the forge. Default: `org` */
  readonly name?: string;
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
    const knownKeys = await this.deps.inbox.knownEntries(
      this.polled.forge,
      this.polled.org,
      this.source,
      rows.map(({ entryKey }) => entryKey),
    );
    return rows.filter(({ entryKey }) => !knownKeys.has(entryKey) && knownKeys.add(entryKey));
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
