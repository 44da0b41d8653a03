import type { Clock } from '../../core/clock.js';
import type { Arrival } from '../../core/arrival.js';
import type { WakeQueue } from '../wake-queue.port.js';

const LEAST_MS = 1_000;
const MOST_MS = 60_000;

/**
 * Wakes arrivals again that cannot be decided before another: a row whose delivery may be on its way, an equal text behind something that is not decided.
 * A kindness of this process only: when it ends meanwhile, the sweep finds them.
 */
export class LaterArrivals {
  /** By id: the sweep brings an arrival again as well, and each time it may be put off anew. */
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly queue: Pick<WakeQueue, 'announce'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** After as long as it has waited so far, so that what waits for long is asked about seldom. */
  wake(arrival: Arrival): void {
    if (this.timers.has(arrival.id)) return;
    const since = arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt;
    const waitedMs = this.clock.now().getTime() - since.getTime();
    const timer = setTimeout(
      () => {
        this.timers.delete(arrival.id);
        void this.queue.announce('arrival', [arrival.id], arrival.org).catch(() => undefined);
      },
      Math.min(MOST_MS, Math.max(LEAST_MS, waitedMs)),
    );
    timer.unref();
    this.timers.set(arrival.id, timer);
  }

  async stop(): Promise<void> {
    for (const timer of this.timers.values()) clearTimeout(timer);
  }
}
