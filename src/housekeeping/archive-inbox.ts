import type { Clock } from '../core/clock.js';
import type { Logger } from '../core/logger.js';
import type { InboxStore } from '../inbox/inbox-store.js';

export interface ArchiveDeps {
  readonly inbox: Pick<InboxStore, 'archive'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const DAY_MS = 24 * 3_600_000;
/** Arrivals in one statement: an embedded store does nothing else meanwhile. */
const BATCH = 200;

/** Gives up the bodies of arrivals older than `retention.inbox_days`. What makes them known again stays, and so do their events. */
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

  private async pass(): Promise<number> {
    const before = new Date(this.deps.clock.now().getTime() - this.inboxDays * DAY_MS);
    let archived = 0;
    for (let batch = BATCH; batch === BATCH && !this.isStopped; archived += batch) batch = await this.deps.inbox.archive(before, BATCH);
    if (archived > 0) this.deps.logger.info({ archived, before }, 'bodies of old arrivals given up');
    return archived;
  }
}
