import type { DueIntent, JournalStore } from '../journal-store.port.js';
import type { WakeQueue } from '../wake-queue.port.js';
import type { IntentToEffect } from '../execute.js';
import type { Again } from './settle.js';

/** Each under its topic; those whose kind the store cannot tell now as what is waited for. */
export async function announceIntents(
  { journal, queue }: { journal: Pick<JournalStore, 'backgroundAmong'>; queue: Pick<WakeQueue, 'announce'> },
  ids: readonly string[],
): Promise<void> {
  const background = new Set(await journal.backgroundAmong(ids).catch(() => []));
  await announceDue(
    queue,
    ids.map((id) => ({ id, isBackground: background.has(id) })),
  );
}

async function announceDue(queue: Pick<WakeQueue, 'announce'>, due: readonly DueIntent[], org?: string): Promise<void> {
  for (const [topic, isOf] of [
    ['intent', false],
    ['background', true],
  ] as const) {
    const ids = due.flatMap(({ id, isBackground }) => (isBackground === isOf ? [id] : []));
    if (ids.length > 0) await queue.announce(topic, ids, org);
  }
}

interface ExecutorDeps {
  readonly queue: Pick<WakeQueue, 'announce' | 'consume'>;
  readonly effects: IntentToEffect;
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
    const done = await this.deps.effects.run(intentId);
    if (!done) return;
    const { again, near, org } = done;
    if (again !== null) this.wakeLater(again, org);
    // In the lanes of the same organization.
    await announceDue(this.deps.queue, near, org);
  }

  /** A kindness of this process only: when it ends meanwhile, the sweep finds the intent when it is due. */
  private wakeLater({ inMs, ...intent }: Again, org: string): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (!this.isStopping) void announceDue(this.deps.queue, [intent], org);
    }, inMs + 1);
    timer.unref();
    this.timers.add(timer);
  }
}
