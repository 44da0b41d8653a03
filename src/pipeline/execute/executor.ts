import type { Logger } from '../../core/logger.js';
import type { JournalStore } from '../journal-store.port.js';
import type { WakeQueue } from '../wake-queue.port.js';
import type { IntentToEffect } from '../execute.js';

/** How many that one end set free are woken at once; the others follow from theirs, or from the sweep. */
const WAKE_NEXT = 8;

/** Each under its topic; those whose kind the store cannot tell now as what is waited for. */
export async function announceIntents(
  { journal, queue }: { journal: Pick<JournalStore, 'backgroundAmong'>; queue: Pick<WakeQueue, 'announce'> },
  ids: readonly string[],
  org?: string,
): Promise<void> {
  const background = new Set(await journal.backgroundAmong(ids).catch(() => []));
  const waitedFor = ids.filter((id) => !background.has(id));
  if (waitedFor.length > 0) await queue.announce('intent', waitedFor, org);
  if (background.size > 0) await queue.announce('background', [...background], org);
}

interface ExecutorDeps {
  readonly journal: Pick<JournalStore, 'dueNear' | 'backgroundAmong'>;
  readonly queue: Pick<WakeQueue, 'announce' | 'consume'>;
  readonly effects: IntentToEffect;
  readonly logger: Logger;
}

/** Takes wake-ups of intents, works on each, and wakes what its end set free. */
export class Executor {
  private readonly running = new Set<Promise<void>>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private isStopping = false;

  constructor(private readonly deps: ExecutorDeps) {}

  /**
   * @param concurrency intents worked on at once by this process, and as many again in the background, so that those which wait for their turn at a
   * forge keep no others from theirs; the forge's own limits are kept by its client
   */
  async start(concurrency: number, background = concurrency): Promise<void> {
    await this.deps.queue.consume('intent', concurrency, (id) => this.handle(id));
    await this.deps.queue.consume('background', background, (id) => this.handle(id));
  }

  /** Work on one intent; also called by the sweep when wake-ups do not flow. */
  async handle(intentId: string): Promise<void> {
    if (this.isStopping) return;
    const work = this.work(intentId);
    const settled = work.catch(() => undefined);
    this.running.add(settled);
    try {
      await work;
    } finally {
      this.running.delete(settled);
    }
  }

  /**
   * Take nothing new and wait for what runs; after the time is over, calls under way are ended, and what was sent without an answer is unknown.
   * Call it before the queue and the store are closed.
   */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    for (const timer of this.timers) clearTimeout(timer);
    const timer = setTimeout(() => this.deps.effects.abort(), graceMs);
    while (this.running.size > 0) await Promise.all(this.running);
    clearTimeout(timer);
  }

  private async work(intentId: string): Promise<void> {
    const { claimed, againInMs, org } = await this.deps.effects.run(intentId);
    if (!claimed) return;
    if (againInMs !== null) this.wakeLater(intentId, againInMs, org);
    // In the lanes of the same organization.
    const next = await this.deps.journal.dueNear(intentId, WAKE_NEXT);
    if (next.length > 0) await announceIntents(this.deps, next, org);
  }

  /** A kindness of this process only: when it ends meanwhile, the sweep finds the intent when it is due. */
  private wakeLater(intentId: string, ms: number, org?: string): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (!this.isStopping) void announceIntents(this.deps, [intentId], org);
    }, ms + 1);
    timer.unref();
    this.timers.add(timer);
  }
}
