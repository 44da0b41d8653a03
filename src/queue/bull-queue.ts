import type { Queue } from 'bull';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import { BullTopic, type Place } from './bull-topic.js';
import type { Topic, WakeQueue } from '../pipeline/wake-queue.port.js';

const ANNOUNCE_MS = 500;
const PING_MS = 1_000;
const CLOSE_MS = 2_000;
const WATCH_EVERY_MS = 5_000;
const BATCH = 500;

/**
 * Wake-ups between processes: Bull on Redis, jobs that carry ids and nothing else. Redis may vanish or forget at any time;
 * nothing here waits for it longer than a moment.
 */
export class BullQueue implements WakeQueue {
  private readonly topics: ReadonlyMap<Topic, BullTopic>;
  private readonly watchdog: NodeJS.Timeout;
  private isClosed = false;

  constructor(
    queues: ReadonlyMap<Topic, Readonly<Record<Place, Queue>>>,
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.topics = new Map([...queues].map(([topic, queue]) => [topic, new BullTopic(topic, queue, logger, now)]));
    for (const topic of this.topics.values()) topic.connect();
    this.watchdog = setInterval(() => void this.watch(), WATCH_EVERY_MS);
    this.watchdog.unref();
  }

  async announce(topic: Topic, ids: readonly string[], org = ''): Promise<void> {
    const target = this.topics.get(topic);
    // Commands given without a connection would pile up in memory.
    if (this.isClosed || !target?.isConnected) return;
    const first = org === '' ? 0 : target.share.take(org, ids.length, this.now());
    const adding = (async () => {
      if (first > 0) await target.add(ids.slice(0, first), org, 'first');
      for (let at = first; at < ids.length; at += BATCH) await target.add(ids.slice(at, at + BATCH), org, 'in turn');
    })();
    await within(ANNOUNCE_MS, adding).catch((error: unknown) =>
      this.logger.warn({ topic, count: ids.length, reason: messageOf(error) }, 'queue.not-announced'),
    );
  }

  async consume(topic: Topic, concurrency: number, handle: (id: string) => Promise<void>): Promise<void> {
    const target = this.topics.get(topic);
    if (!target || target.isConsuming) throw new Error(`the topic ${topic} has a consumer, or is none`);
    target.consume(concurrency, handle);
  }

  async healthy(): Promise<boolean> {
    if (this.isClosed) return false;
    const asked = Promise.all(
      [...this.topics.values()].map(
        async (topic) => topic.isConnected && (await topic.ping()) && !(await topic.isDeaf()),
      ),
    );
    return within(PING_MS, asked).then(
      (answers) => answers.every(Boolean),
      () => false,
    );
  }

  /**
   * Look at the server once it answers. Redis may throw wake-ups away under memory pressure: nothing is lost, but work then starts with
   * the sweep only.
   */
  async checkServer(): Promise<void> {
    const [topic] = this.topics.values();
    const text = await within(PING_MS, topic?.info('memory') ?? Promise.resolve('')).catch(() => '');
    const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1];
    if (policy !== undefined && policy !== 'noeviction') {
      this.logger.warn(
        { maxmemoryPolicy: policy, fix: 'set maxmemory-policy to noeviction' },
        'queue.redis-may-drop-wake-ups',
      );
    }
  }

  async close(graceMs: number): Promise<void> {
    this.isClosed = true;
    clearInterval(this.watchdog);
    const topics = [...this.topics.values()];
    await within(graceMs, Promise.all(topics.map((topic) => topic.stop()))).catch(() => undefined);
    await within(CLOSE_MS, Promise.all(topics.map((topic) => topic.close()))).catch(() => undefined);
    for (const topic of topics) topic.cut();
  }

  /** A consumer that stays deaf after a reconnect is woken. */
  private async watch(): Promise<void> {
    for (const topic of this.topics.values()) {
      const isDeaf = topic.isConnected && (await within(PING_MS, topic.isDeaf()).catch(() => false));
      if (!isDeaf || this.isClosed) continue;
      this.logger.warn({ topic: topic.topic }, 'queue.consumer-deaf');
      topic.wake();
    }
  }
}
