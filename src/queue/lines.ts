import { callingAs } from '../core/caller.js';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import { TOPICS, type IsDue, type Topic, type Turn, type WorkQueue } from '../pipeline/work-queue.port.js';

/** How a ring comes from one process to another. */
export interface Bell {
  /**
   * @param isServed whether this process serves the topic
   * @returns whether some process will hear it; else the line gets its turn here
   */
  ring(topic: Topic, org: string, isServed: boolean): Promise<boolean>;
  /** A turn of the line filled its batch: another process may help. */
  help(topic: Topic, org: string): void;
  /** Hears rings of this topic from now on. */
  listen(topic: Topic, listener: (org: string) => void): void;
  healthy(): Promise<boolean>;
  close(): Promise<void>;
}

/** The turns of this process: in each topic the lines take turns one after another. Without a bell, rings stay in the process. */
export class Lines implements WorkQueue {
  private readonly topics: ReadonlyMap<Topic, RoundRobin>;
  private isClosed = false;

  constructor(
    logger: Logger,
    private readonly bell: Bell | null = null,
  ) {
    this.topics = new Map(TOPICS.map((topic) => [topic, new RoundRobin(topic, this, bell, logger)]));
  }

  ring(topic: Topic, org: string): void {
    if (this.isClosed) return;
    const lines = this.of(topic);
    if (!this.bell || lines.has(org)) lines.ring(org);
    else
      void this.bell
        .ring(topic, org, lines.isServing)
        .then((isHeard) => isHeard || !lines.isServing || lines.ring(org));
  }

  ringHere(topic: Topic, org: string): void {
    this.of(topic).ring(org);
  }

  /** Ends with the turn of the line. @returns whether more may be due */
  turn(topic: Topic, org: string): Promise<boolean> {
    return this.of(topic).turn(org);
  }

  /** A ring may have been lost during a turn that left nothing behind. */
  async look(topic: Topic, org: string): Promise<void> {
    if (await this.of(topic).isDue(org)) this.ring(topic, org);
  }

  async serve(topic: Topic, atOnce: number, turn: Turn, isDue: IsDue = async () => false): Promise<void> {
    const lines = this.of(topic);
    lines.serve(atOnce, turn, isDue);
    this.bell?.listen(topic, (org) => lines.ring(org));
  }

  async healthy(): Promise<boolean> {
    return !this.isClosed && ((await this.bell?.healthy()) ?? true);
  }

  async close(graceMs: number): Promise<void> {
    this.isClosed = true;
    const stopped = Promise.all([...this.topics.values()].map((lines) => lines.stop()));
    await within(graceMs, stopped).catch(() => undefined);
    await this.bell?.close();
  }

  private of(topic: Topic): RoundRobin {
    const lines = this.topics.get(topic);
    if (!lines) throw new Error(`there is no topic ${topic}`);
    return lines;
  }
}

type Ended = (isLeft: boolean) => void;

/** The lines of one topic, in the order in which they were rung. */
class RoundRobin {
  /** With whoever waits for the end of the turn. */
  private readonly waiting = new Map<string, Ended[]>();
  private readonly running = new Map<string, Promise<void>>();
  /** Rung during their turn, which may have looked before. */
  private readonly rungAgain = new Set<string>();
  private served: { readonly turn: Turn; readonly isDue: IsDue } | null = null;
  private atOnce = 0;
  private isStopped = false;

  constructor(
    private readonly topic: Topic,
    private readonly owner: Pick<Lines, 'ring'>,
    private readonly bell: Pick<Bell, 'help'> | null,
    private readonly logger: Logger,
  ) {}

  get isServing(): boolean {
    return this.served !== null;
  }

  /** Whether the line waits for its turn, or has it. */
  has(org: string): boolean {
    return this.running.has(org) || this.waiting.has(org);
  }

  serve(atOnce: number, turn: Turn, isDue: IsDue): void {
    if (this.served) throw new Error(`the topic ${this.topic} is served already`);
    this.atOnce = atOnce;
    this.served = { turn, isDue };
    this.begin();
  }

  ring(org: string): void {
    if (this.isStopped) return;
    if (this.running.has(org)) this.rungAgain.add(org);
    else if (!this.waiting.has(org)) this.waiting.set(org, []);
    this.begin();
  }

  async turn(org: string): Promise<boolean> {
    if (this.isStopped) return false;
    if (this.running.has(org)) {
      // It gets another one behind it.
      this.rungAgain.add(org);
      return false;
    }
    return new Promise((ended) => {
      this.waiting.set(org, [...(this.waiting.get(org) ?? []), ended]);
      this.begin();
    });
  }

  async isDue(org: string): Promise<boolean> {
    if (!this.served || this.isStopped || this.has(org)) return false;
    return this.served.isDue(org).catch(() => false);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    for (const ended of this.waiting.values()) for (const end of ended) end(false);
    this.waiting.clear();
    await Promise.all(this.running.values());
  }

  private begin(): void {
    if (!this.served || this.isStopped) return;
    for (const [org, ended] of this.waiting) {
      if (this.running.size >= this.atOnce) return;
      this.waiting.delete(org);
      this.running.set(org, this.run(org, this.served.turn, ended));
    }
  }

  private async run(org: string, turn: Turn, ended: readonly Ended[]): Promise<void> {
    // After those that ring in the same breath: one turn is for all of them.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const caller = { priority: this.topic === 'background' ? 'housekeeping' : 'webhook', org: org || null } as const;
    const help = (): void => this.bell?.help(this.topic, org);
    const isLeft = await callingAs(caller, () => turn(org, help)).catch((error: unknown) => {
      this.logger.error({ topic: this.topic, org, reason: messageOf(error) }, 'queue.turn-failed');
      return false;
    });
    this.running.delete(org);
    const isMore = this.rungAgain.delete(org) || isLeft;
    for (const end of ended) end(isMore);
    if (isMore && ended.length === 0) this.owner.ring(this.topic, org);
    this.begin();
  }
}
