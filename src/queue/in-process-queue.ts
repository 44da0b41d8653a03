import { messageOf } from '../core/errors.js';
import { callingAs } from '../core/caller.js';
import { FairTurns } from '../core/fair-turns.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import type { Topic, WakeQueue } from '../pipeline/wake-queue.port.js';

/** Wake-ups beyond this many waiting ones are left to the sweep, which finds the same work. */
const MAX_WAITING = 100_000;

interface Lane {
  readonly waiting: FairTurns<string>;
  readonly running: Map<string, { readonly org: string; readonly done: Promise<void> }>;
  concurrency: number;
  handle: ((id: string) => Promise<void>) | null;
}

/** Wake-ups within one process: nothing is kept, and nothing needs to be. */
export class InProcessQueue implements WakeQueue {
  private readonly lanes = new Map<Topic, Lane>();
  private isClosed = false;

  constructor(private readonly logger: Logger) {}

  async announce(topic: Topic, ids: readonly string[], org = ''): Promise<void> {
    if (this.isClosed) return;
    const lane = this.lane(topic);
    for (const id of ids) if (lane.waiting.size < MAX_WAITING) lane.waiting.add(org, id);
    this.startWaiting(topic, lane);
  }

  async consume(topic: Topic, concurrency: number, handle: (id: string) => Promise<void>): Promise<void> {
    const lane = this.lane(topic);
    if (lane.handle) throw new Error(`the topic ${topic} has a consumer`);
    Object.assign(lane, { concurrency, handle });
    this.startWaiting(topic, lane);
  }

  async healthy(): Promise<boolean> {
    return !this.isClosed;
  }

  async close(graceMs: number): Promise<void> {
    this.isClosed = true;
    const running = [...this.lanes.values()].flatMap((lane) => {
      lane.waiting.clear();
      return [...lane.running.values()].map(({ done }) => done);
    });
    await within(graceMs, Promise.all(running)).catch(() => undefined);
  }

  private lane(topic: Topic): Lane {
    let lane = this.lanes.get(topic);
    if (!lane)
      this.lanes.set(topic, (lane = { waiting: new FairTurns(), running: new Map(), concurrency: 0, handle: null }));
    return lane;
  }

  /**
   * An id that was announced again while it runs waits for its own end: the handler may have read before the change. The last place is for another
   * organization than all the rest, so that nobody waits until a flood leaves one.
   */
  private startWaiting(topic: Topic, lane: Lane): void {
    if (!lane.handle || this.isClosed) return;
    const mostOfOne = Math.max(1, lane.concurrency - 1);
    while (lane.running.size < lane.concurrency) {
      const next = lane.waiting.take(
        (one) => !lane.running.has(one),
        (org) => [...lane.running.values()].filter((one) => one.org === org).length < mostOfOne,
      );
      if (!next) return;
      lane.running.set(next.item, { org: next.owner, done: this.run(topic, lane, next.item, next.owner) });
    }
  }

  private async run(topic: Topic, lane: Lane, id: string, org: string): Promise<void> {
    // After the caller of `announce` has gone on, as with a queue of its own.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    try {
      await callingAs(
        { lane: topic === 'background' ? 'housekeeping' : 'webhook', org: org === '' ? null : org },
        async () => lane.handle?.(id),
      );
    } catch (error) {
      this.logger.error({ topic, id, reason: messageOf(error) }, 'queue.handler-failed');
    }
    lane.running.delete(id);
    this.startWaiting(topic, lane);
  }
}
