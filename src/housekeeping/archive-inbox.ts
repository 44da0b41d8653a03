import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Clock } from '../core/clock.js';
import { UserError } from '../core/errors.js';
import { Logger } from '../core/logger.js';
import { ArchiveStore } from './archive-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { readArchive, ArchiveFiles } from './archive-files.js';

export interface RestoreReport {
  /** Arrivals of the inbox that got their body back. */
  readonly putBack: number;
  /** Arrivals that the inbox did not know; the bot decides them like new ones. */
  readonly stored: number;
  /** Arrivals that the inbox knew no more, since they are older than `retention.history_days`: they can be read, and are not decided again. */
  readonly history: number;
  /** Arrivals that still had their body. */
  readonly unchanged: number;
}

const DAY_MS = 24 * 3_600_000;
/** Arrivals in one statement: an embedded store does nothing else meanwhile. */
const BATCH = 200;

/**
 * Removes the bodies of arrivals older than `retention.inbox_days` from the store; if `retention.archive` names a folder, into files there. Keys and
 * hashes stay, so that equal deliveries are still recognized. Events stay, too.
 */
@Injectable()
export class ArchiveInbox {
  /** Null = bodies are deleted for good. */
  private readonly files: ArchiveFiles | null;
  private readonly inboxDays: number;
  private readonly historyDays: number;
  private running: Promise<number> | null = null;
  private isStopped = false;

  constructor(
    { retention: { archive, inboxDays, historyDays } }: AppConfig,
    @Inject(ThisProcess) { onFlushFailed }: Pick<ThisProcess, 'onFlushFailed'>,
    @Inject(InboxStore)
    private readonly inbox: Pick<InboxStore, 'archive' | 'get' | 'storeDeliveries' | 'storeEntries'>,
    private readonly store: ArchiveStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.files = archive === null ? null : new ArchiveFiles(archive, onFlushFailed);
    this.inboxDays = inboxDays;
    this.historyDays = historyDays;
  }

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
    const { files } = this;
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
    const { inbox, store, files } = this;
    if (!files)
      throw new UserError(
        'NO_ARCHIVE',
        'the bot has no archive to restore from: set retention.archive to the folder of the files',
      );
    const path = await files.find(file);
    const begins = new Date(this.clock.now().getTime() - this.historyDays * DAY_MS);
    let [putBack, stored, history, unchanged] = [0, 0, 0, 0];
    for await (const arrival of readArchive(path)) {
      if (await store.putBack(arrival)) {
        putBack += 1;
        continue;
      }
      if (await inbox.get(arrival.id)) {
        unchanged += 1;
        continue;
      }
      if ((arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt) < begins) {
        await store.keep(arrival);
        history += 1;
        continue;
      }
      if (arrival.kind === 'delivery') await inbox.storeDeliveries([arrival]);
      const isStored = arrival.kind === 'delivery' || (await inbox.storeEntries([arrival]))[0]?.duplicate === false;
      if (isStored) stored += 1;
      else unchanged += 1;
    }
    return { putBack, stored, history, unchanged };
  }

  private before(): Date {
    return new Date(this.clock.now().getTime() - this.inboxDays * DAY_MS);
  }

  private async pass(): Promise<number> {
    const before = this.before();
    let archived = 0;
    for (let batch = BATCH; batch === BATCH && !this.isStopped; archived += batch) batch = await this.batch(before);
    if (archived > 0) this.logger.info({ archived, before, folder: this.files?.folder ?? null }, 'arrivals.archived');
    return archived;
  }

  /** The body is on the disk before the store drops it: a crash in between leaves it in both places. */
  private async batch(before: Date): Promise<number> {
    const { inbox, store, files } = this;
    if (!files) return inbox.archive(before, BATCH);
    const old = await store.oldest(before, BATCH);
    if (old.length === 0) return 0;
    await files.append(old);
    await store.giveUp(old.map(({ id }) => id));
    return old.length;
  }
}
