import { callingAs } from '../core/caller.js';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import { TOPICS, type Topic, type Turn, type WorkQueue } from '../pipeline/work-queue.port.js';

/** How a ring comes from a process that does not serve a topic to one that does. */
export interface Bell {
  ring(topic: Topic, org: string): void;
  /** Hears rings of this topic from now on. */
  listen(topic: Topic, heard: (org: string) => void): void;
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
    this.topics = new Map(TOPICS.map((topic) => [topic, new RoundRobin(topic, logger)]));
  }

  ring(topic: Topic, org: string): void {
    if (this.isClosed) return;
    const lines = this.of(topic);
    if (this.bell && !lines.isServing) this.bell.ring(topic, org);
    else lines.ring(org);
  }

  async serve(topic: Topic, atOnce: number, turn: Turn): Promise<void> {
    const lines = this.of(topic);
    lines.serve(atOnce, turn);
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

/** The lines of one topic, in the order in which they were rung. */
class RoundRobin {
  private readonly waiting = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();
  /** Rung during their turn, which may have looked before. */
  private readonly rungAgain = new Set<string>();
  private turn: Turn | null = null;
  private atOnce = 0;
  private isStopped = false;

  constructor(
    private readonly topic: Topic,
    private readonly logger: Logger,
  ) {}

  get isServing(): boolean {
    return this.turn !== null;
  }

  serve(atOnce: number, turn: Turn): void {
    if (this.turn) throw new Error(`the topic ${this.topic} is served already`);
    this.atOnce = atOnce;
    this.turn = turn;
    this.begin();
  }

  ring(org: string): void {
    if (this.isStopped) return;
    if (this.running.has(org)) this.rungAgain.add(org);
    else this.waiting.add(org);
    this.begin();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.waiting.clear();
    await Promise.all(this.running.values());
  }

  private begin(): void {
    const { turn } = this;
    if (!turn || this.isStopped) return;
    for (const org of this.waiting) {
      if (this.running.size >= this.atOnce) return;
      this.waiting.delete(org);
      this.running.set(org, this.run(org, turn));
    }
  }

  private async run(org: string, turn: Turn): Promise<void> {
    // After those that ring in the same breath: one turn is for all of them.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const caller = { lane: this.topic === 'background' ? 'housekeeping' : 'webhook', org: org || null } as const;
    const isLeft = await callingAs(caller, () => turn(org)).catch((error: unknown) => {
      this.logger.error({ topic: this.topic, org, reason: messageOf(error) }, 'queue.turn-failed');
      return false;
    });
    this.running.delete(org);
    if (this.rungAgain.delete(org) || isLeft) this.ring(org);
    else this.begin();
  }
}
