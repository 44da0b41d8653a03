import pLimit from 'p-limit';
import type { Logger } from '../../core/logger.js';
import type { InboxStore } from '../inbox-store.port.js';
import type { JournalStore } from '../journal-store.port.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { Topic, WakeQueue } from '../wake-queue.port.js';
import type { UnknownOutcomes } from '../execute/settle.js';

interface SweepDeps {
  readonly journal: Pick<JournalStore, 'dueIntents' | 'backgroundAmong' | 'dueRuns' | 'reclaimExpired'>;
  readonly inbox: Pick<InboxStore, 'dueArrivals' | 'undecidedEvents'>;
  readonly recovery: Pick<RecoveryStore, 'mayHaveWork'>;
  readonly queue: Pick<WakeQueue, 'announce' | 'healthy'>;
  readonly unknown: UnknownOutcomes;
  /** What a wake-up of each topic does; used when wake-ups do not flow. */
  readonly handlers: Readonly<Record<Topic, (id: string) => Promise<void>>>;
  /** Decides a run whose window is over. No wake-up announces it: its time alone makes it due. */
  readonly decideRun: (id: string) => Promise<void>;
  readonly logger: Logger;
}

interface SweepOptions {
  /** Default 2_000. */
  readonly everyMs?: number;
  /** Ids looked at per topic and pass; default 500. */
  readonly batch?: number;
  /** Work done at once where wake-ups do not flow; default 8. */
  readonly concurrency?: number;
}

const DEFAULTS = { everyMs: 2_000, batch: 500, concurrency: 8 };

/** Of a backlog the next arrivals are looked for when so few are in hand: the look takes as long as they do. */
const FEW_ARRIVALS = 64;

/** So many passes may see the same due id before it is worked on here although the queue says that it is well (a deaf consumer). */
const MAX_ANNOUNCED = 2;

/**
 * Finds in the store what no job announced: undecided arrivals and events, runs whose window is over, due intents, leases that ran out,
 * unknown outcomes to be read about. With it the queue is a convenience: whatever it loses is found within one pass. A pass begins with one question
 * to the store, whether there may be anything: a bot in which nothing happens asks no more.
 */
export class Sweep {
  private timer: NodeJS.Timeout | null = null;
  private passing: Promise<void> | null = null;
  private recovering: Promise<void> | null = null;
  private inBackground: Promise<void> | null = null;
  private seen = new Map<string, number>();
  /** Arrivals that are being decided here, and whether the last look at them may have left some. */
  private inHand = 0;
  private mayBeMore = false;
  private readonly dueBefore = new Map<Topic, readonly string[]>();
  private readonly options: Required<SweepOptions>;

  constructor(
    private readonly deps: SweepDeps,
    options: SweepOptions = {},
  ) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** The first pass at once: what a killed process left behind is not announced by anybody. */
  start(): void {
    if (this.timer) return;
    this.timer = setInterval(() => void this.pass(), this.options.everyMs);
    void this.pass();
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await this.passing;
    await this.recovering;
    await this.inBackground;
  }

  /**
   * Decides an arrival that a wake-up names. Of a backlog, a pass brings one batch: when it runs out here, the next is looked for at once, without waiting
   * for the timer.
   */
  async arrival(id: string): Promise<void> {
    this.inHand += 1;
    try {
      await this.deps.handlers.arrival(id);
    } finally {
      this.inHand -= 1;
      if (this.inHand <= FEW_ARRIVALS && this.mayBeMore && this.timer) {
        this.mayBeMore = false;
        void this.again();
      }
    }
  }

  /** One pass; a second call joins the pass that runs. Never throws: what fails is tried by the next pass. */
  pass(): Promise<void> {
    this.passing ??= this.sweep()
      .catch((error: unknown) => this.deps.logger.warn({ error }, 'sweep.failed'))
      .finally(() => (this.passing = null));
    return this.passing;
  }

  /** A pass that begins from now on: the one that runs may have looked already. Nothing before `start` and after `stop`. */
  async again(): Promise<void> {
    await this.passing;
    if (this.timer) await this.pass();
  }

  private async sweep(): Promise<void> {
    const { journal, inbox, recovery, queue, logger } = this.deps;
    const before = this.seen;
    this.seen = new Map();
    if (!(await recovery.mayHaveWork())) return this.dueBefore.clear();
    const reclaimed = await journal.reclaimExpired();
    if (reclaimed > 0) logger.warn({ intents: reclaimed }, 'intents.reclaimed');
    // Reads of a slow forge must not hold up the rest of the pass.
    this.recovering ??= this.deps.unknown.pass(this.options.batch).finally(() => (this.recovering = null));
    const isHealthy = await queue.healthy();
    // One after another, each read when its turn comes: where wake-ups do not flow, a delivery comes through to its effect in one pass.
    const arrivals = await inbox.dueArrivals(this.options.batch);
    this.mayBeMore = arrivals.length === this.options.batch;
    await this.wake('arrival', arrivals, before, isHealthy);
    await this.wake('event', await inbox.undecidedEvents(this.options.batch), before, isHealthy);
    await this.workOn('run', await journal.dueRuns(this.options.batch), this.deps.decideRun);
    const due = await journal.dueIntents(this.options.batch);
    const background = new Set(await journal.backgroundAmong(due));
    const waitedFor = due.filter((id) => !background.has(id));
    await this.wake('intent', waitedFor, before, isHealthy);
    // Nobody waits for background intents, and a forge that is asked slowly must not hold up the rest of the passes.
    const left = await this.announce('background', [...background], before, isHealthy);
    this.inBackground ??= this.workOn('background', left, this.deps.handlers.background).finally(
      () => (this.inBackground = null),
    );
  }

  private async wake(
    topic: Topic,
    ids: readonly string[],
    before: ReadonlyMap<string, number>,
    isHealthy: boolean,
  ): Promise<void> {
    await this.workOn(topic, await this.announce(topic, ids, before, isHealthy), this.deps.handlers[topic]);
  }

  /** @returns those that have to be worked on here */
  private async announce(
    topic: Topic,
    ids: readonly string[],
    before: ReadonlyMap<string, number>,
    isHealthy: boolean,
  ): Promise<string[]> {
    const own: string[] = [];
    const announced: string[] = [];
    const hasWaitedInTurn = this.waitInTurn(topic, ids);
    for (const id of ids) {
      const hasWaited = hasWaitedInTurn(id);
      const passes = hasWaited ? 1 : (before.get(`${topic}/${id}`) ?? 0) + 1;
      this.seen.set(`${topic}/${id}`, passes);
      // It was announced at an earlier pass, and a queue need not know an id again.
      if (hasWaited && isHealthy) continue;
      (isHealthy && passes <= MAX_ANNOUNCED ? announced : own).push(id);
    }
    if (announced.length > 0) await this.deps.queue.announce(topic, announced);
    return own;
  }

  /**
   * Of a backlog that is worked off, what waits is not overlooked: what stood before it at the last pass was taken since, and nothing behind it.
   * @returns whether an id that was due at the last pass too has only waited for its turn
   */
  private waitInTurn(topic: Topic, ids: readonly string[]): (id: string) => boolean {
    const before = this.dueBefore.get(topic) ?? [];
    this.dueBefore.set(topic, ids);
    const still = new Set(ids);
    const taken = before.map((id) => !still.has(id));
    const lastTaken = taken.lastIndexOf(true);
    const behindAllTaken = new Set(lastTaken < 0 ? [] : before.slice(lastTaken + 1));
    return (id) => behindAllTaken.has(id);
  }

  private async workOn(
    topic: Topic | 'run',
    ids: readonly string[],
    handle: (id: string) => Promise<void>,
  ): Promise<void> {
    if (ids.length === 0) return;
    const limit = pLimit(this.options.concurrency);
    const work = async (id: string): Promise<void> => {
      try {
        await handle(id);
      } catch (error) {
        this.deps.logger.warn({ topic, id, error }, 'sweep.work-failed');
      }
    };
    await Promise.all(ids.map((id) => limit(work, id)));
  }
}
