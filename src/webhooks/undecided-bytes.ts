import type { Clock } from '../core/clock.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';

export interface UndecidedLimits {
  /** Bytes of deliveries that are stored and not decided: of all hooks. */
  readonly bytes: number;
  /** The same of one hook. */
  readonly bytesPerHook: number;
}

/** A count that took long is repeated more seldom: it may take this share of the time. */
const MOST_SHARE = 1 / 50;

/**
 * How many bytes of deliveries wait to be decided, counted in the store now and then. Between two counts, what this process stores is added; what
 * others store is seen at the next count.
 */
export class UndecidedBytes {
  #counted: ReadonlyMap<string, number> = new Map();
  #total = 0;
  /** Stored here since the last count began. */
  #since = new Map<string, number>();
  #nextAtMs = 0;

  constructor(
    private readonly inbox: Pick<InboxStore, 'undecidedBytes'>,
    private readonly limits: UndecidedLimits,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

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

  /** Count anew, if it is time. */
  async count(): Promise<void> {
    const startedAt = this.clock.monotonicMs();
    if (startedAt < this.#nextAtMs) return;
    // A count that does not end is not begun again.
    this.#nextAtMs = Infinity;
    // Holds while the count runs, and if it fails.
    const known = new Map(this.#counted);
    for (const [hook, bytes] of this.#since) known.set(hook, (known.get(hook) ?? 0) + bytes);
    this.#counted = known;
    this.#since = new Map();
    try {
      // What is stored while the count runs may be in it as well: counted twice until the next one.
      this.#counted = new Map((await this.inbox.undecidedBytes()).map(({ hook, bytes }) => [hook, bytes]));
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
