import { setTimeout as wait } from 'node:timers/promises';
import { backoffMs } from '../platform/backoff.js';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import { TOPICS, type Topic } from '../pipeline/work-queue.port.js';
import type { Bell } from './lines.js';
import type { Notifications } from './notifications.port.js';

type Heard = (org: string) => void;

const AGAIN = { firstMs: 100, maxMs: 30_000, between: [0.5, 1] } as const;
const CLOSE_MS = 500;

/**
 * Rings between processes that share PostgreSQL and have no Redis. Every process that serves the topic hears the ring; the store deals, so that they do not do
 * the same. Where a pooler drops LISTEN, the poll of each worker finds the work a second later.
 */
export class NotifyBell implements Bell {
  private readonly listeners = new Map<Topic, Heard>();
  /** Rings that wait for the statement under way, each once. */
  private readonly unsent = new Set<string>();
  private sending: Promise<void> | null = null;
  private listening: Promise<void> | null = null;
  private readonly stop = new AbortController();

  constructor(
    private readonly notifications: Notifications,
    private readonly logger: Logger,
  ) {}

  async ring(topic: Topic, org: string, isServed: boolean): Promise<boolean> {
    if (isServed) return false;
    this.unsent.add(`${topic} ${org}`);
    this.sending ??= this.send().finally(() => (this.sending = null));
    return true;
  }

  /** Each process hears every ring as it is, and looks for work each second. */
  help(): void {}

  listen(topic: Topic, listener: Heard): void {
    this.listeners.set(topic, listener);
    this.listening ??= this.listenOn();
  }

  async healthy(): Promise<boolean> {
    return !this.stop.signal.aborted;
  }

  async close(): Promise<void> {
    this.stop.abort();
    await within(CLOSE_MS, Promise.all([this.sending, this.listening])).catch(() => undefined);
  }

  private async send(): Promise<void> {
    while (this.unsent.size > 0 && !this.stop.signal.aborted) {
      const texts = [...this.unsent];
      this.unsent.clear();
      await this.notifications
        .send(texts)
        .catch((error: unknown) =>
          this.logger.warn({ count: texts.length, reason: messageOf(error) }, 'queue.not-rung'),
        );
    }
  }

  private async listenOn(): Promise<void> {
    const { signal } = this.stop;
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const connection = await this.notifications.listen((text) => this.take(text));
        failures = 0;
        this.logger.info({}, 'queue.rings-flow');
        await Promise.race([connection.ended, stopped]).finally(() => connection.close());
      } catch (error) {
        this.logger.warn({ reason: messageOf(error) }, 'queue.listener-lost');
        await wait(backoffMs(failures, AGAIN), undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** Whoever may log in at the store may send anything: a line that has no work has a turn for nothing. */
  private take(text: string): void {
    const [topic, ...org] = text.split(' ');
    const listener = TOPICS.includes(topic as Topic) ? this.listeners.get(topic as Topic) : undefined;
    listener?.(org.join(' '));
  }
}
