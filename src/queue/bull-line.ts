import type { Job, JobOptions, Queue } from 'bull';
import type { Redis } from 'ioredis';
import type { Logger } from '../core/logger.js';
import type { Topic } from '../pipeline/wake-queue.port.js';
import { cutRedis } from './redis-options.js';

/** Waiting jobs that nobody starts for so long mean that the consumer does not hear them. */
const DEAF_AFTER_MS = 10_000;

const OPTIONS: JobOptions = { removeOnComplete: true, removeOnFail: true };

/**
 * One Bull queue and, in a worker, its consumer. All that reaches into Bull's internals stands here.
 *
 * The consumer is no `@Processor` class of @nestjs/bull. That package begins to take jobs in `onModuleInit` of a global module, in every process
 * that knows the class: before forges and rules are ready (https://github.com/nestjs/bull/issues/760; only @nestjs/bullmq can be told to wait,
 * https://github.com/nestjs/bull/pull/2038). `@Process` takes its concurrency when the class is defined, before any config is read; its author's
 * answer is to use Bull itself then (https://github.com/nestjs/bull/issues/395). And at a stop it waits for the server, which may be away.
 */
export class BullLine {
  private isConsuming = false;
  private jobsInHand = 0;
  /** Monotonic ms of the last time a job was started or none waited. */
  private heardAt = 0;

  constructor(
    topic: Topic,
    private readonly queue: Queue,
    logger: Logger,
    private readonly now: () => number,
  ) {
    // Without a listener, an error event ends the process.
    queue.on('error', (error) => logger.warn({ topic, reason: error.message }, 'queue.error'));
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

  /** Open the connection now, for `isConnected` to come true; does not wait for it. */
  connect(): void {
    void this.queue.isReady().catch(() => undefined);
  }

  async add(jobs: ReadonlyArray<{ readonly jobId: string; readonly data: object }>): Promise<void> {
    if (jobs.length === 0) return;
    await this.queue.addBulk(jobs.map(({ jobId, data }) => ({ data, opts: { ...OPTIONS, jobId } })));
  }

  /** @param most jobs in hand at once */
  consume(most: number, take: (job: Pick<Job<unknown>, 'id' | 'data'>) => Promise<void>): void {
    this.isConsuming = true;
    this.heardAt = this.now();
    const takeHeard = async (job: Job): Promise<void> => {
      this.heardAt = this.now();
      this.jobsInHand += 1;
      await take(job).finally(() => (this.jobsInHand -= 1));
    };
    // Settled only when the queue is closed; failures come as error events.
    void this.queue.process(most, takeHeard).catch(() => undefined);
  }

  /** Whether jobs wait that this consumer could take and does not. One that has a job in hand, or no room, has heard. */
  async isDeaf(hasRoom: boolean): Promise<boolean> {
    if (!this.isConsuming) return false;
    const couldStart = hasRoom && this.jobsInHand === 0 && (await this.queue.getWaitingCount()) > 0;
    if (!couldStart) this.heardAt = this.now();
    return this.now() - this.heardAt > DEAF_AFTER_MS;
  }

  /** Connect the blocking read anew; Bull then asks again. It may stay deaf after a reconnect: https://github.com/OptimalBits/bull/issues/1873. */
  wake(): void {
    if (!this.isConsuming) return;
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

  /** Take no more. To be waited for: it connects the blocking read anew, which must not happen behind the close. */
  async stop(): Promise<void> {
    if (this.isConsuming && this.isConnected) await this.queue.pause(true, true).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.queue.close(true);
  }

  /** `close` hangs without a server; the connections themselves can always be cut. */
  cut(): void {
    const { clients } = this.queue as unknown as { clients: Redis[] };
    for (const client of clients) cutRedis(client);
  }
}
