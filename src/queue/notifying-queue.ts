import { newId } from '../core/ids.js';
import type { Logger } from '../core/logger.js';
import type { Topic, WakeQueue } from '../pipeline/wake-queue.port.js';
import { InProcessQueue } from './in-process-queue.js';
import { Listeners } from './listeners.js';
import { textOf, wakeUpTexts, type Message, type WakeUp } from './messages.js';
import { NotificationSender } from './notification-sender.js';
import type { Notifications } from './notifications.port.js';
import { ProvenListener, type ListenTimes } from './proven-listener.js';

const TIMES: ListenTimes = { proofMs: 5_000, proofEveryMs: 30_000 };

/**
 * Wake-ups between processes that share PostgreSQL and have no Redis. A process that consumes begins what it has room for, keeps the rest, and
 * notifies the others, who may have room. A process that only announces notifies those that consume. Where notifications do not come through, the
 * queue is one within the process.
 */
export class NotifyingQueue implements WakeQueue {
  private readonly self = newId();
  private readonly own: InProcessQueue;
  private readonly sender: NotificationSender;
  private readonly listeners: Listeners;
  private readonly listener: ProvenListener;
  private look: () => void = () => undefined;
  private isClosed = false;

  constructor(notifications: Notifications, logger: Logger, times: ListenTimes = TIMES) {
    this.own = new InProcessQueue(logger);
    this.sender = new NotificationSender(notifications, logger);
    this.listeners = new Listeners(this.self, 2 * times.proofEveryMs + times.proofMs);
    this.listener = new ProvenListener({
      self: this.self,
      notifications,
      heard: (told) => this.take(told),
      begins: () => this.look(),
      logger,
      times,
    });
  }

  async announce(topic: Topic, ids: readonly string[], org = ''): Promise<void> {
    if (this.isClosed) return;
    const isKept = this.own.isConsuming(topic);
    const left = this.own.add(topic, ids, org);
    // Nobody else hears it.
    if (isKept && this.listener.isProven && !this.listeners.hasOthers) return;
    this.sender.add(wakeUpTexts({ from: this.self, topic, org, ids: isKept ? left : ids, isKept }));
  }

  async consume(topic: Topic, concurrency: number, handle: (id: string) => Promise<void>): Promise<void> {
    await this.own.consume(topic, concurrency, handle);
    this.listener.start();
  }

  whenMissed(look: () => void): void {
    this.look = look;
  }

  /** Also where notifications do not come through: what is announced here begins here, or is found by the sweep of another process. */
  async healthy(): Promise<boolean> {
    return !this.isClosed;
  }

  async close(graceMs: number): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.listener.close(), this.own.close(graceMs)]);
  }

  private take(told: Message): void {
    if (this.isClosed) return;
    if (told.does === 'leave') this.listeners.left(told.from);
    else if (told.does === 'listen') this.meet(told.from);
    else this.wake(told);
  }

  /** A newcomer does not know who was there before. */
  private meet(name: string): void {
    if (this.listeners.saw(name)) this.sender.add([textOf({ from: this.self, does: 'listen', proof: newId() })]);
  }

  /** What the sender does not keep is as good as announced here: another listener may have the room that this one lacks. */
  private wake({ from, topic, org, ids, isKept }: WakeUp): void {
    const ours = ids.filter((id) => this.listeners.isOurs(id, isKept ? from : ''));
    if (isKept) this.own.beginIfRoom(topic, ours, org);
    else void this.announce(topic, ours, org);
  }
}
