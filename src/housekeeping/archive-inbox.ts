import type { Clock } from '../core/clock.js';
import { UserError } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import type { ArchiveStore } from './archive-store.port.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';
import { readArchive, type ArchiveFiles } from './archive-files.js';

interface ArchiveDeps {
  readonly inbox: Pick<InboxStore, 'archive' | 'get' | 'storeDeliveries' | 'storeEntries'>;
  readonly store: ArchiveStore;
  /** Null = bodies are deleted for good. */
  readonly files: ArchiveFiles | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface RestoreReport {
  /** Arrivals of the inbox that got their body back. */
  readonly putBack: number;
  /** Arrivals that the inbox did not know; the bot decides them like new ones. */
  readonly stored: number;
  /** Arrivals that still had their body. */
  readonly kept: number;
}

const DAY_MS = 24 * 3_600_000;
/** Arrivals in one statement: an embedded store does nothing else meanwhile. */
const BATCH = 200;

/**
 * Removes the bodies of arrivals older than `retention.inbox_days` from the store; if `retention.archive` names a folder, into files there. Keys and
 * hashes stay, so that equal deliveries are still recognized. Events stay, too.
 */
export class ArchiveInbox {
  private running: Promise<number> | null = null;
  private isStopped = false;

  constructor(
    private readonly deps: ArchiveDeps,
    private readonly inboxDays: number,
  ) {}

  /** One pass, a batch after the other; a second call joins the one that runs. @returns how many were archived */
  run(): Promise<number> {
    this.running ??= this.pass().finally(() => (this.running = null));
    return this.running;
  }

  /** Ends after the batch under way. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running?.catch(() => undefined);
  }

  /** What a pass does, as a sentence. */
  describe(): string {
    const { files } = this.deps;
    const before = this.before().toISOString().slice(0, 10);
    return files
      ? `bodies of before ${before} go to ${files.folder}`
      : `bodies of before ${before} are given up: retention.archive names no folder`;
  }

  /**
   * Bring back what a file of the archive holds. Safe to repeat.
   * @param file its path; a relative one starts in the archive's folder
   * @throws UserError when it is no archive, or lies elsewhere: a caller of the control API names no other file of this machine
   */
  async restore(file: string): Promise<RestoreReport> {
    const { inbox, store, files } = this.deps;
    if (!files)
      throw new UserError(
        'NO_ARCHIVE',
        'the bot has no archive to restore from: set retention.archive to the folder of the files',
      );
    const path = await files.find(file);
    let [putBack, stored, kept] = [0, 0, 0];
    for await (const arrival of readArchive(path)) {
      if (await store.putBack(arrival)) {
        putBack += 1;
        continue;
      }
      if (await inbox.get(arrival.id)) {
        kept += 1;
        continue;
      }
      if (arrival.kind === 'delivery') await inbox.storeDeliveries([arrival]);
      const isStored = arrival.kind === 'delivery' || (await inbox.storeEntries([arrival]))[0]?.duplicate === false;
      if (isStored) stored += 1;
      else kept += 1;
    }
    return { putBack, stored, kept };
  }

  private before(): Date {
    return new Date(this.deps.clock.now().getTime() - this.inboxDays * DAY_MS);
  }

  private async pass(): Promise<number> {
    const before = this.before();
    let archived = 0;
    for (let batch = BATCH; batch === BATCH && !this.isStopped; archived += batch) batch = await this.batch(before);
    if (archived > 0)
      this.deps.logger.info({ archived, before, folder: this.deps.files?.folder ?? null }, 'arrivals.archived');
    return archived;
  }

  /** The body is on the disk before the store drops it: a crash in between leaves it in both places. */
  private async batch(before: Date): Promise<number> {
    const { inbox, store, files } = this.deps;
    if (!files) return inbox.archive(before, BATCH);
    const old = await store.oldest(before, BATCH);
    if (old.length === 0) return 0;
    await files.append(old);
    await store.giveUp(old.map(({ id }) => id));
    return old.length;
  }
}
