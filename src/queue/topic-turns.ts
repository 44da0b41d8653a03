import { callingAs } from '../core/caller.js';
import { messageOf } from '../core/errors.js';
import { FairScheduler, type Turn } from '../core/fair-scheduler.js';
import type { Logger } from '../core/logger.js';
import type { Topic } from '../pipeline/wake-queue.port.js';

type Handle = (id: string) => Promise<void>;

/**
 * The ids of one topic that wait in this process, and the handlers that run. The next place is for the organization whose handlers took the least
 * time, and the last one for another organization than all the rest, so that nobody waits until a flood leaves one. An id that is announced while it
 * runs is handled again after its end: the handler may have read before the change.
 */
export class TopicTurns {
  readonly #turns = new FairScheduler<string>();
  readonly #running = new Set<Promise<void>>();
  #handle: Handle | null = null;
  #concurrency = 0;
  #isStopped = false;

  /**
   * @param begins called when the turn of an id comes
   * @param now ms of a clock that only grows
   */
  constructor(
    private readonly topic: Topic,
    private readonly logger: Logger,
    private readonly begins: (id: string) => void = () => undefined,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get size(): number {
    return this.#turns.size;
  }

  get isConsuming(): boolean {
    return this.#handle !== null;
  }

  get hasRoom(): boolean {
    return this.#turns.underWay < this.#concurrency;
  }

  isWaiting(id: string): boolean {
    return this.#turns.isWaiting(id);
  }

  isRunning(id: string): boolean {
    return this.#turns.isUnderWay(id);
  }

  consume(concurrency: number, handle: Handle): void {
    this.#concurrency = concurrency;
    this.#handle = handle;
    this.#begin();
  }

  /** @param org '' = nobody knows, as with what the sweep finds: an id that runs here stays its organization's */
  add(ids: readonly string[], org: string): void {
    if (this.#isStopped) return;
    for (const id of ids) this.#turns.add(id, org || (this.#turns.ownerOf(id) ?? ''));
    this.#begin();
  }

  /** Whether the id begins at once; else it does not wait here. */
  addIfRoom(id: string, org: string): boolean {
    if (!this.#handle || this.#isStopped || !this.hasRoom) return false;
    this.add([id], org);
    if (!this.isWaiting(id)) return true;
    this.#turns.remove(id);
    return false;
  }

  /** Begin nothing more, and wait for what runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#turns.clear();
    await Promise.all(this.#running);
  }

  #begin(): void {
    if (!this.#handle || this.#isStopped) return;
    const limits = { places: this.#concurrency, placesOfOne: Math.max(1, this.#concurrency - 1) };
    for (let next = this.#turns.next(limits); next; next = this.#turns.next(limits)) {
      this.begins(next.item);
      const running = this.#run(next, this.#handle).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #run({ item: id, owner: org }: Turn<string>, handle: Handle): Promise<void> {
    const from = this.now();
    // After the caller of `announce` has gone on, as with a queue of its own.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    try {
      const lane = this.topic === 'background' ? 'housekeeping' : 'webhook';
      await callingAs({ lane, org: org === '' ? null : org }, () => handle(id));
    } catch (error) {
      this.logger.error({ topic: this.topic, id, reason: messageOf(error) }, 'queue.handler-failed');
    }
    this.#turns.ended(id, this.now() - from);
    this.#begin();
  }
}
