import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../core/clock.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';

/** A slow count runs less often: it may take this share of the time. */
const MOST_SHARE = 1 / 50;

/**
 * How many bytes of deliveries wait to be decided, counted in the store from time to time. Between two counts it adds
 * what this process stores; the next count sees what others stored.
 */
@Injectable()
export class UndecidedBytes {
  #counted: ReadonlyMap<string, number> = new Map();
  #total = 0;
  /** Bytes that this process stored since the last count began. */
  #since = new Map<string, number>();
  #nextAtMs = 0;
  #hasCounted = false;
  private readonly limits: AppConfig['server']['undecided'];

  constructor(
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'undecidedBytes'>,
    { server }: AppConfig,
    @Inject(Clock) private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.limits = server.undecided;
  }

  /** Whether another delivery of this hook would be too much. */
  isFull(hook: string): boolean {
    return (
      this.#total >= this.limits.bytes ||
      (this.#counted.get(hook) ?? 0) + (this.#since.get(hook) ?? 0) >= this.limits.bytesPerHook
    );
  }

  stored(hook: string, bytes: number): void {
    this.#since.set(hook, (this.#since.get(hook) ?? 0) + bytes);
    this.#total += bytes;
  }

  /** Count again, if it is time, and if there may be anything to count. */
  async count(): Promise<void> {
    const startedAt = this.clock.monotonicMs();
    // Where nothing waited at the last count and nothing came here since, what others stored matters with the next delivery: the count after it sees it.
    const isQuiet = this.#hasCounted && this.#counted.size === 0 && this.#since.size === 0;
    if (isQuiet || startedAt < this.#nextAtMs) return;
    // Never start a second count beside one that does not end.
    this.#nextAtMs = Infinity;
    // Valid while the count runs, and when it fails.
    const counts = new Map(this.#counted);
    for (const [hook, bytes] of this.#since) counts.set(hook, (counts.get(hook) ?? 0) + bytes);
    this.#counted = counts;
    this.#since = new Map();
    try {
      // A delivery that is stored while the count runs may be in both numbers, until the next count.
      this.#counted = new Map((await this.inbox.undecidedBytes()).map(({ hook, bytes }) => [hook, bytes]));
      this.#hasCounted = true;
    } finally {
      const endedAt = this.clock.monotonicMs();
      this.#nextAtMs = endedAt + (endedAt - startedAt) / MOST_SHARE;
      this.#total = sumOf(this.#counted) + sumOf(this.#since);
    }
  }
}

function sumOf(bytes: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const each of bytes.values()) sum += each;
  return sum;
}
