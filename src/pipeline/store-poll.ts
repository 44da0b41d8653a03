import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Logger } from '../core/logger.js';
import { UnknownOutcomes } from './execute/settle.js';
import { JournalStore } from './journal-store.port.js';
import { RecoveryStore } from './recovery-store.port.js';
import { WorkQueue } from './work-queue.port.js';

/** Unknown outcomes that a pass reads about. */
const MOST_UNKNOWN = 500;

/**
 * Asks the store which lines have due work, and gives each a turn in this process: the same turn that a ring gives. So what a lost ring, a dead worker or an absent
 * Redis leaves behind waits for a pass at most. It also takes back what lost owners held, and has unknown outcomes read about. A pass begins with one question
 * to the store, whether there may be anything: a bot in which nothing happens asks no more.
 */
@Injectable()
export class StorePoll {
  private timer: NodeJS.Timeout | null = null;
  private passing: Promise<void> | null = null;
  private recovering: Promise<void> | null = null;

  private readonly everyMs: number;

  constructor(
    { queue: { sweepS } }: AppConfig,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'reclaimExpired'>,
    @Inject(RecoveryStore) private readonly recovery: Pick<RecoveryStore, 'mayHaveWork' | 'dueLines'>,
    @Inject(WorkQueue) private readonly queue: Pick<WorkQueue, 'ringHere'>,
    @Inject(UnknownOutcomes) private readonly unknown: Pick<UnknownOutcomes, 'pass'>,
    private readonly logger: Logger,
  ) {
    this.everyMs = sweepS * 1000;
  }

  /** The first pass at once: nobody rings for what a killed process left behind. */
  start(): void {
    if (this.timer) return;
    this.timer = setInterval(() => void this.pass(), this.everyMs);
    void this.pass();
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await this.passing;
    await this.recovering;
  }

  /** One pass; a second call joins the pass that runs. Never throws: what fails is tried by the next pass. */
  pass(): Promise<void> {
    this.passing ??= this.look()
      .catch((error: unknown) => this.logger.warn({ error }, 'store-poll.failed'))
      .finally(() => (this.passing = null));
    return this.passing;
  }

  private async look(): Promise<void> {
    const { journal, recovery, queue, unknown, logger } = this;
    if (!(await recovery.mayHaveWork())) return;
    const reclaimed = await journal.reclaimExpired();
    if (reclaimed > 0) logger.warn({ intents: reclaimed }, 'intents.reclaimed');
    // Reads of a slow forge must not hold up the next pass.
    this.recovering ??= unknown.pass(MOST_UNKNOWN).finally(() => (this.recovering = null));
    for (const { topic, org } of await recovery.dueLines()) queue.ringHere(topic, org);
  }
}
