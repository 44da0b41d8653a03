import { messageOf } from '../core/errors.js';
import type { Clock } from '../core/clock.js';
import type { Logger } from '../core/logger.js';
import type { Topic } from './work-queue.port.js';

/** A turn ends after this time, for others that wait; what is in hand goes on beside them. */
const TURN_MS = 250;
/** What ends within this time of a free hand makes room for one larger batch. */
const REST_MS = 15;
/** Work that failed is left alone for so long. */
const FAILED_MS = 1_000;

/** What a turn was given. */
export interface Dealt<Item> {
  readonly items: readonly Item[];
  /** More may be due than there was room for. */
  readonly isFull: boolean;
}

/** What a topic is about. */
export interface TopicWork<Item extends { readonly id: string }> {
  /**
   * Claims what is due of this organization.
   * @param most items
   * @param except what is in hand here, or is left alone for now
   */
  deal(org: string, most: number, except: ReadonlySet<string>): Promise<Dealt<Item>>;
  /** Whether anything is due of this organization, but for what is in hand or left alone. */
  isDue(org: string, except: ReadonlySet<string>): Promise<boolean>;
  /** @returns how many milliseconds the item is to be left alone; null = it is done, or the store knows when it is due again */
  work(item: Item): Promise<number | null>;
}

export interface Hands {
  /** Items in hand at once in this process. Of one organization one less, so that nobody waits until a flood leaves one. */
  readonly most: number;
  /** A turn waits a moment until so many hands are free, for a larger batch. */
  readonly refill: number;
}

/** Looks behind turns. What a turn did not get that came of a look is another's, or not ready: it is not looked for again before some turn found work. */
export class Looks {
  private readonly inVain = new Set<string>();

  foundWork(org: string): void {
    this.inVain.delete(org);
  }

  async isDue(org: string, ask: () => Promise<boolean>): Promise<boolean> {
    if (this.inVain.delete(org) || !(await ask())) return false;
    this.inVain.add(org);
    return true;
  }
}

/**
 * The turns of one topic: claim a batch of one organization, begin it, top it up as hands become free, and end after a time. A turn never waits for its slowest item: what
 * is in hand at its end goes on, and counts.
 */
export class LineTurns<Item extends { readonly id: string }> {
  /** By id, the organization. */
  private readonly inHand = new Map<string, string>();
  /** Places that are taken, also by a batch that is being dealt, by organization. */
  private readonly places = new Map<string, number>();
  private readonly leftAlone = new Map<string, number>();
  private readonly running = new Set<Promise<void>>();
  private readonly looks = new Looks();
  private waiting: Array<() => void> = [];
  private isStopping = false;

  constructor(
    private readonly topic: Topic,
    private readonly of: TopicWork<Item>,
    private readonly hands: Hands,
    private readonly logger: Logger,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /** Whether a turn waits for a free hand. */
  get isWaitedFor(): boolean {
    return this.waiting.length > 0;
  }

  isDue(org: string): Promise<boolean> {
    return this.looks.isDue(org, () => this.of.isDue(org, this.except()));
  }

  /**
   * @param help called once when it filled a batch
   * @returns whether it left work behind that is due
   */
  async turn(org: string, help: () => void = () => undefined): Promise<boolean> {
    const endsAtMs = this.now() + TURN_MS;
    let isHelped = false;
    for (;;) {
      const room = await this.room(org, endsAtMs);
      if (room === 0) return !this.isStopping;
      this.take(org, room);
      let items: readonly Item[] = [];
      let isFull = false;
      try {
        ({ items, isFull } = await this.of.deal(org, room, this.except()));
      } finally {
        this.take(org, items.length - room);
      }
      if (items.length > 0) this.looks.foundWork(org);
      for (const item of items) this.begin(org, item);
      if (!isFull) return false;
      if (!isHelped) help();
      isHelped = true;
      if (this.now() >= endsAtMs) return true;
    }
  }

  /** Begins nothing more, and waits for what is in hand. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.changed();
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /** Waits for free hands, at most until the turn ends. */
  private async room(org: string, endsAtMs: number): Promise<number> {
    let restUntilMs: number | null = null;
    for (;;) {
      if (this.isStopping) return 0;
      const free = this.free(org);
      const nowMs = this.now();
      const isEnough =
        free >= this.hands.refill || !this.places.has(org) || (restUntilMs !== null && nowMs >= restUntilMs);
      if (free > 0 && isEnough) return free;
      if (nowMs >= endsAtMs) return free;
      if (free > 0) restUntilMs ??= nowMs + REST_MS;
      await this.change((restUntilMs ?? endsAtMs) - nowMs);
    }
  }

  private now(): number {
    return this.clock.monotonicMs();
  }

  private free(org: string): number {
    let all = 0;
    for (const count of this.places.values()) all += count;
    const { most } = this.hands;
    return Math.max(0, Math.min(most - all, Math.max(1, most - 1) - (this.places.get(org) ?? 0)));
  }

  private take(org: string, count: number): void {
    const rest = (this.places.get(org) ?? 0) + count;
    if (rest > 0) this.places.set(org, rest);
    else this.places.delete(org);
    if (count < 0) this.changed();
  }

  private except(): ReadonlySet<string> {
    const nowMs = this.now();
    for (const [id, untilMs] of this.leftAlone) if (untilMs <= nowMs) this.leftAlone.delete(id);
    return new Set([...this.inHand.keys(), ...this.leftAlone.keys()]);
  }

  /** Its place is taken already. */
  private begin(org: string, item: Item): void {
    this.inHand.set(item.id, org);
    const running = this.work(item).finally(() => {
      this.running.delete(running);
      this.inHand.delete(item.id);
      this.take(org, -1);
    });
    this.running.add(running);
  }

  private async work(item: Item): Promise<void> {
    try {
      const leaveMs = await this.of.work(item);
      if (leaveMs !== null) this.leftAlone.set(item.id, this.now() + leaveMs);
    } catch (error) {
      this.logger.error({ topic: this.topic, id: item.id, reason: messageOf(error) }, 'turn.work-failed');
      this.leftAlone.set(item.id, this.now() + FAILED_MS);
    }
  }

  private change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(
        () => {
          this.waiting = this.waiting.filter((one) => one !== goOn);
          resolve();
        },
        Math.max(1, ms),
      );
      this.waiting.push(goOn);
    });
  }

  private changed(): void {
    for (const goOn of this.waiting.splice(0)) goOn();
  }
}
