import type { Clock } from '../../core/clock.js';
import type { Arrival } from '../../core/arrival.js';
import type { WorkQueue } from '../work-queue.port.js';

const LEAST_MS = 1_000;
const MOST_MS = 60_000;
const GOES_ON_MS = 100;

/** `others`: an equal text stands behind something that is not decided. `its delivery`: of a row, which may be on its way. */
export type WaitsFor = 'others' | 'its delivery';

interface Waiting {
  readonly org: string;
  readonly for: WaitsFor;
  readonly timer: NodeJS.Timeout;
}

/**
 * Arrivals that cannot be decided before another, which turns leave alone for a while. Those that wait for others go on when one was decided, all together and in
 * their order: of hundreds that stand one behind the other, each would else sleep for a minute after the one before it. A kindness of this process only: when it
 * ends meanwhile, the next one tries them at once.
 */
export class LaterArrivals {
  private readonly waiting = new Map<string, Waiting>();
  private goingOn: NodeJS.Timeout | null = null;

  constructor(
    private readonly queue: Pick<WorkQueue, 'ring'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Those of an organization that are to be left alone now. */
  of(org: string): string[] {
    return [...this.waiting].flatMap(([id, one]) => (one.org === org ? [id] : []));
  }

  /** Leave it alone as long as it has waited so far, so that what waits for long is asked about seldom. */
  wake(arrival: Arrival, what: WaitsFor): void {
    const { id, org } = arrival;
    if (this.waiting.has(id)) return;
    const since = arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt;
    const waitedMs = this.clock.now().getTime() - since.getTime();
    const timer = setTimeout(() => this.goOn([id]), Math.min(MOST_MS, Math.max(LEAST_MS, waitedMs)));
    timer.unref();
    this.waiting.set(id, { org, for: what, timer });
  }

  /** Those that wait for others may go on: a moment later, for what is decided together. */
  decided(): void {
    if (this.waiting.size === 0 || this.goingOn) return;
    this.goingOn = setTimeout(() => {
      this.goingOn = null;
      this.goOn([...this.waiting].flatMap(([id, { for: what }]) => (what === 'others' ? [id] : [])));
    }, GOES_ON_MS);
    this.goingOn.unref();
  }

  private goOn(ids: readonly string[]): void {
    const orgs = new Set<string>();
    for (const id of ids) {
      const one = this.waiting.get(id);
      if (!one) continue;
      clearTimeout(one.timer);
      this.waiting.delete(id);
      orgs.add(one.org);
    }
    for (const org of orgs) this.queue.ring('arrivals', org);
  }

  async stop(): Promise<void> {
    if (this.goingOn) clearTimeout(this.goingOn);
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
  }
}
