import type { Job, JobOptions, Queue } from 'bull';
import type { Redis } from 'ioredis';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import type { Topic } from '../pipeline/work-queue.port.js';
import type { Bell } from './lines.js';
import { cutRedis } from './redis-options.js';

const PING_MS = 1_000;
const CLOSE_MS = 2_000;
const WATCH_EVERY_MS = 5_000;
/** Waiting jobs that nobody takes for so long mean that the consumer does not hear them. */
const DEAF_AFTER_MS = 10_000;
const AT_ONCE = 4;

/** A topic on the server, and when this process heard it last (ms of a clock that only grows; null = it does not listen). */
interface Bells {
  readonly queue: Queue;
  heardAtMs: number | null;
}

/**
 * Rings over Redis: one Bull queue for each topic, one job for each line. Bull drops an `add` while a job of that id waits or is active, and Bull's order is that of
 * the organizations. A job is over at once, and then the line gets its turn: so each ring that was dropped came before the look of a turn, and the
 * death of a worker leaves no job behind that others wait for.
 *
 * All that reaches into Bull's internals stands here. The consumer is no `@Processor` class of @nestjs/bull. That package begins to take jobs in
 * `onModuleInit` of a global module, in every process that knows the class: before forges and rules are ready
 * (https://github.com/nestjs/bull/issues/760). And at a stop it waits for the server, which may be away.
 */
export class BullBell implements Bell {
  private readonly watchdog: NodeJS.Timeout;
  private isClosed = false;
  private readonly topics: ReadonlyMap<Topic, Bells>;

  constructor(
    queues: ReadonlyMap<Topic, Queue>,
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.topics = new Map([...queues].map(([topic, queue]) => [topic, { queue, heardAtMs: null }]));
    for (const [topic, { queue }] of this.topics) {
      // Without a listener, an error event ends the process.
      queue.on('error', (error) => logger.warn({ topic, reason: error.message }, 'queue.error'));
      // The name of a connection is for people's eyes; when Redis no longer lets us in, its failure would end the process too.
      const named = queue as unknown as { setWorkerName(): Promise<unknown> };
      const setName = named.setWorkerName.bind(queue);
      named.setWorkerName = () => setName().catch(() => undefined);
      // What @nestjs/bull would do at a stop waits for a server that may be away; `close` is bounded.
      Object.assign(queue, { onApplicationShutdown: () => undefined });
      void queue.isReady().catch(() => undefined);
    }
    this.watchdog = setInterval(() => void this.watch(), WATCH_EVERY_MS);
    this.watchdog.unref();
  }

  ring(topic: Topic, org: string): void {
    const queue = this.topics.get(topic)?.queue;
    // Commands given without a connection would pile up in memory.
    if (this.isClosed || !queue || !isConnected(queue)) return;
    const options: JobOptions = { jobId: `line-${org}`, removeOnComplete: true, removeOnFail: true };
    queue
      .add({ org }, options)
      .catch((error: unknown) => this.logger.warn({ topic, org, reason: messageOf(error) }, 'queue.not-rung'));
  }

  listen(topic: Topic, heard: (org: string) => void): void {
    const bells = this.topics.get(topic);
    if (!bells) return;
    bells.heardAtMs = this.now();
    bells.queue.on('completed', ({ data }: Pick<Job<unknown>, 'data'>) => {
      // Whoever may write to our Redis may write anything: a line that has no work has a turn for nothing.
      const { org } = (data ?? {}) as { org?: unknown };
      if (typeof org === 'string') heard(org);
    });
    const take = async (): Promise<void> => void (bells.heardAtMs = this.now());
    // Settled only when the queue is closed; failures come as error events.
    void bells.queue.process(AT_ONCE, take).catch(() => undefined);
  }

  async healthy(): Promise<boolean> {
    if (this.isClosed) return false;
    const answers = Promise.all(
      [...this.topics.values()].map(
        async (bells) =>
          isConnected(bells.queue) && (await clientOf(bells.queue).ping()) === 'PONG' && !(await this.isDeaf(bells)),
      ),
    );
    return within(PING_MS, answers).then(
      (all) => all.every(Boolean),
      () => false,
    );
  }

  /**
   * Look at the server once it answers. Redis may throw rings away under memory pressure: nothing is lost, but work then starts with the poll only.
   */
  async checkServer(): Promise<void> {
    const [bells] = this.topics.values();
    const text = await within(PING_MS, bells ? clientOf(bells.queue).info('memory') : Promise.resolve('')).catch(
      () => '',
    );
    const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1];
    if (policy !== undefined && policy !== 'noeviction') {
      this.logger.warn(
        { maxmemoryPolicy: policy, fix: 'set maxmemory-policy to noeviction' },
        'queue.redis-may-drop-rings',
      );
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.watchdog);
    const queues = [...this.topics.values()];
    // To be waited for: a pause connects the blocking read anew, which must not happen behind the close.
    const paused = queues.map(async ({ queue, heardAtMs }) => {
      if (heardAtMs !== null && isConnected(queue)) await queue.pause(true, true).catch(() => undefined);
      await queue.close(true);
    });
    await within(CLOSE_MS, Promise.all(paused)).catch(() => undefined);
    // `close` hangs without a server; the connections themselves can always be cut.
    for (const { queue } of queues)
      for (const client of (queue as unknown as { clients: Redis[] }).clients) cutRedis(client);
  }

  /** The blocking read may stay deaf after a reconnect (https://github.com/OptimalBits/bull/issues/1873): it is connected anew, and Bull asks again. */
  private async watch(): Promise<void> {
    for (const [topic, bells] of this.topics) {
      const isDeaf = isConnected(bells.queue) && (await within(PING_MS, this.isDeaf(bells)).catch(() => false));
      if (!isDeaf || this.isClosed) continue;
      this.logger.warn({ topic }, 'queue.consumer-deaf');
      bells.heardAtMs = this.now();
      (bells.queue as unknown as { bclient: Redis }).bclient.disconnect(true);
    }
  }

  /** Whether jobs wait that this consumer could take and does not. */
  private async isDeaf(bells: Bells): Promise<boolean> {
    if (bells.heardAtMs === null) return false;
    if ((await bells.queue.getWaitingCount()) === 0) bells.heardAtMs = this.now();
    return this.now() - bells.heardAtMs > DEAF_AFTER_MS;
  }
}

function clientOf(queue: Queue): Redis {
  return queue.client as Redis;
}

function isConnected(queue: Queue): boolean {
  return clientOf(queue).status === 'ready';
}
