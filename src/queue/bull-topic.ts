import type { Job, Queue } from 'bull';
import type { Redis } from 'ioredis';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import type { Topic } from '../pipeline/wake-queue.port.js';
import { cutRedis } from './redis-options.js';

/** Waiting jobs that nobody starts for so long mean that the consumer does not hear them. */
const DEAF_AFTER_MS = 10_000;

/**
 * One topic: its Bull queue and, in a worker, the consumer. All that reaches into Bull's internals stands here.
 *
 * The consumer is no `@Processor` class of @nestjs/bull. That package begins to take jobs in `onModuleInit` of a global module, in every process
 * that knows the class: before forges and rules are ready (https://github.com/nestjs/bull/issues/760; only @nestjs/bullmq can be told to wait,
 * https://github.com/nestjs/bull/pull/2038). `@Process` takes its concurrency when the class is defined, before any config is read; its author's
 * answer is to use Bull itself then (https://github.com/nestjs/bull/issues/395). And at a stop it waits for the server, which may be away.
 */
export class BullTopic {
  private readonly running = new Map<string, Promise<void>>();
  private readonly again = new Set<string>();
  /** What of each organization goes first. */
  readonly share = new FirstShare();
  /** Jobs in hand that wait until what runs leaves room. */
  private readonly waiting: Array<() => void> = [];
  private handle: ((id: string) => Promise<void>) | null = null;
  private concurrency = 0;
  /** Monotonic ms of the last time a job was started or none waited. */
  private heardAt = 0;
  private isClosing = false;

  constructor(
    readonly topic: Topic,
    private readonly queue: Queue,
    private readonly logger: Logger,
    private readonly now: () => number,
  ) {
    // Without a listener, an error event ends the process.
    queue.on('error', (error) => this.logger.warn({ topic, reason: error.message }, 'queue.error'));
    // The name of a connection is for people's eyes; when Redis no longer lets us in, its failure would end the process too.
    const named = queue as unknown as { setWorkerName(): Promise<unknown> };
    const setName = named.setWorkerName.bind(queue);
    named.setWorkerName = () => setName().catch(() => undefined);
    // What @nestjs/bull would do at a stop waits for a server that may be away; `close` is bounded.
    Object.assign(queue, { onApplicationShutdown: () => undefined });
  }

  get isConnected(): boolean {
    return (this.queue.client as Redis).status === 'ready';
  }

  get isConsuming(): boolean {
    return this.concurrency > 0;
  }

  /** Open the connection now, for `isConnected` to come true; does not wait for it. */
  connect(): void {
    void this.queue.isReady().catch(() => undefined);
  }

  /**
   * An id that is waiting already stays one job. One that runs here is handled again afterwards: Bull would swallow it. What this process has
   * room for begins here, without the way over the server; what it dies with is found by the sweep, as any lost job is.
   * @param place `first`: before all that wait in turn
   */
  async add(ids: readonly string[], place: 'first' | 'in turn'): Promise<void> {
    const fresh = ids.filter((id) => !this.isRunningAgain(id) && !this.startHere(id));
    if (fresh.length === 0) return;
    // A job without a priority waits behind all that have one.
    const how = place === 'first' ? { priority: 1 } : {};
    await this.queue.addBulk(
      fresh.map((id) => ({ data: {}, opts: { jobId: id, removeOnComplete: true, removeOnFail: true, ...how } })),
    );
  }

  consume(concurrency: number, handle: (id: string) => Promise<void>): void {
    this.concurrency = concurrency;
    this.handle = handle;
    this.heardAt = this.now();
    // Settled only when the queue is closed; failures come as error events.
    void this.queue.process(concurrency, (job: Job) => this.work(String(job.id), handle)).catch(() => undefined);
  }

  /** Whether jobs wait that this consumer could start and does not. */
  async isDeaf(): Promise<boolean> {
    if (!this.isConsuming) return false;
    const couldStart = this.running.size < this.concurrency && (await this.queue.getWaitingCount()) > 0;
    if (!couldStart) this.heardAt = this.now();
    return this.now() - this.heardAt > DEAF_AFTER_MS;
  }

  /** Connect the blocking read anew; Bull then asks again. It may stay deaf after a reconnect: https://github.com/OptimalBits/bull/issues/1873. */
  wake(): void {
    this.heardAt = this.now();
    const { bclient } = this.queue as unknown as { bclient: Redis };
    bclient.disconnect(true);
  }

  async ping(): Promise<boolean> {
    return (await (this.queue.client as Redis).ping()) === 'PONG';
  }

  /** What Redis says about itself under this heading. */
  async info(section: string): Promise<string> {
    return (this.queue.client as Redis).info(section);
  }

  /** Take no more and wait for what runs. */
  async stop(): Promise<void> {
    this.isClosing = true;
    for (const goOn of this.waiting.splice(0)) goOn();
    // Waited for: it connects the blocking read anew, which must not happen behind the close.
    const paused = this.isConsuming && this.isConnected ? this.queue.pause(true, true).catch(() => undefined) : null;
    await Promise.all([paused, ...this.running.values()]);
  }

  async close(): Promise<void> {
    await this.queue.close(true);
  }

  /** `close` hangs without a server; the connections themselves can always be cut. */
  cut(): void {
    const { clients } = this.queue as unknown as { clients: Redis[] };
    for (const client of clients) cutRedis(client);
  }

  private isRunningAgain(id: string): boolean {
    if (!this.running.has(id)) return false;
    this.again.add(id);
    return true;
  }

  private startHere(id: string): boolean {
    const { handle } = this;
    // Jobs in hand go first.
    if (!handle || this.isClosing || this.running.size >= this.concurrency || this.waiting.length > 0) return false;
    // After the caller of `announce` has gone on, as with a queue of its own.
    void this.run(id, async () => {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      await handle(id);
    });
    return true;
  }

  private async work(id: string, handle: (id: string) => Promise<void>): Promise<void> {
    this.heardAt = this.now();
    while (!this.isClosing && this.running.size >= this.concurrency)
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    // A job that comes after the end of taking is left to the sweep, and to other workers.
    if (this.isClosing || this.isRunningAgain(id)) return;
    await this.run(id, () => handle(id));
  }

  private run(id: string, handle: () => Promise<void>): Promise<void> {
    const done = this.handleUntilQuiet(id, handle);
    this.running.set(id, done);
    return done;
  }

  private async handleUntilQuiet(id: string, handle: () => Promise<void>): Promise<void> {
    do {
      this.again.delete(id);
      try {
        await handle();
      } catch (error) {
        this.logger.error({ topic: this.topic, id, reason: messageOf(error) }, 'queue.handler-failed');
      }
    } while (this.again.has(id) && !this.isClosing);
    this.running.delete(id);
    this.waiting.shift()?.();
  }
}

/** So many ids of an organization go first at once, … */
const BURST = 40;
/** … and so many more with each second. */
const PER_S = 10;

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * Which wake-ups go before those that wait in one queue of all organizations: as many of each organization as an ordinary day brings. What an
 * organization announces beyond that waits its turn behind everybody's share. Knows no clock: times are told, in ms of one that only grows.
 */
export class FirstShare {
  readonly #buckets = new Map<string, Bucket>();

  /** @returns how many of so many ids go first */
  take(org: string, count: number, nowMs: number): number {
    let bucket = this.#buckets.get(org);
    if (!bucket) this.#buckets.set(org, (bucket = { left: BURST, atMs: nowMs }));
    bucket.left = Math.min(BURST, bucket.left + ((nowMs - bucket.atMs) / 1000) * PER_S);
    bucket.atMs = nowMs;
    const taken = Math.min(count, Math.floor(bucket.left));
    bucket.left -= taken;
    return taken;
  }
}
