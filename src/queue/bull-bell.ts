import type { JobOptions, Queue } from 'bull';
import type { Redis } from 'ioredis';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import type { Topic } from '../pipeline/work-queue.port.js';
import type { Bell } from './lines.js';
import type { BullClients } from './bull-clients.js';

const PING_MS = 1_000;
const CLOSE_MS = 2_000;
const WATCH_EVERY_MS = 5_000;
/** Waiting jobs that nobody takes for so long mean that the consumer does not hear them. */
const DEAF_AFTER_MS = 10_000;

/** A topic on the server, and when this process took a job of it last (ms of a clock that only grows; null = it does not listen). */
interface Bells {
  readonly queue: Queue;
  heardAtMs: number | null;
}

/**
 * Rings over Redis: one Bull queue for each topic, and a job for each line, of which a processor (`bull-processors.ts`) gives the line its turn. Bull drops an `add` while a
 * job of that id waits or is active, and Bull's order is that of the organizations. A line has a second id, for a process that helps the one whose turn it is.
 */
export class BullBell implements Bell {
  private readonly watchdog: NodeJS.Timeout;
  private isClosed = false;
  private readonly topics: ReadonlyMap<Topic, Bells>;

  constructor(
    queues: ReadonlyMap<Topic, Queue>,
    private readonly clients: BullClients,
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.topics = new Map([...queues].map(([topic, queue]) => [topic, { queue, heardAtMs: null }]));
    for (const [topic, { queue }] of this.topics) {
      // Without a listener, an error event ends the process.
      queue.on('error', (error) => logger.warn({ topic, reason: error.message }, 'queue.error'));
      // What @nestjs/bull would do at a stop waits for a server that may be away; `close` is bounded.
      Object.assign(queue, { onApplicationShutdown: () => undefined });
    }
    this.watchdog = setInterval(() => void this.watch(), WATCH_EVERY_MS);
    this.watchdog.unref();
  }

  ring(topic: Topic, org: string): Promise<boolean> {
    return this.add(topic, org, 1);
  }

  help(topic: Topic, org: string): void {
    void this.add(topic, org, 2);
  }

  listen(topic: Topic): void {
    const bells = this.topics.get(topic);
    if (!bells) return;
    bells.heardAtMs = this.now();
    bells.queue.on('active', () => (bells.heardAtMs = this.now()));
    void bells.queue.resume(true);
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
    this.clients.letGo();
    const closed = [...this.topics.values()].map(({ queue }) => queue.close(true));
    await within(CLOSE_MS, Promise.all(closed)).catch(() => undefined);
    // `close` hangs without a server; the connections themselves can always be cut.
    this.clients.cut();
  }

  /** @returns whether the line has such a job now */
  private async add(topic: Topic, org: string, n: 1 | 2): Promise<boolean> {
    const queue = this.topics.get(topic)?.queue;
    // Commands given without a connection would pile up in memory.
    if (this.isClosed || !queue || !isConnected(queue)) return false;
    const options: JobOptions = { jobId: `line-${org}-${n}`, removeOnComplete: true, removeOnFail: true };
    return queue.add({ org }, options).then(
      () => true,
      (error: unknown) => {
        this.logger.warn({ topic, org, reason: messageOf(error) }, 'queue.not-rung');
        return false;
      },
    );
  }

  /** The blocking read may stay deaf after a reconnect (https://github.com/OptimalBits/bull/issues/1873): a pause connects it anew. */
  private async watch(): Promise<void> {
    for (const [topic, bells] of this.topics) {
      const isDeaf = isConnected(bells.queue) && (await within(PING_MS, this.isDeaf(bells)).catch(() => false));
      if (!isDeaf || this.isClosed) continue;
      this.logger.warn({ topic }, 'queue.consumer-deaf');
      bells.heardAtMs = this.now();
      await bells.queue.pause(true, true).catch(() => undefined);
      await bells.queue.resume(true);
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
