import type { EntrySource } from '../core/event.js';
import { hashOf, newId } from '../core/ids.js';
import { stringifyJson } from '../core/json.js';
import type { Clock } from '../core/clock.js';
import type { NewEntry } from '../core/arrival.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';
import type { WakeQueue } from '../pipeline/wake-queue.port.js';

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
  readonly queue: Pick<WakeQueue, 'announce'>;
  readonly clock: Clock;
  readonly counted?: (what: { org: string; source: EntrySource; stored: number }) => void;
}

const BATCH = 200;
const HISTORY_REASON = 'from before the first start';

/** Puts rows that a poller read into the inbox and says so. */
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
    const ids = stored.filter(({ duplicate }) => !duplicate).map(({ id }) => id);
    if (ids.length > 0) await this.deps.queue.announce('arrival', ids, this.polled.org);
    return ids.length;
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
