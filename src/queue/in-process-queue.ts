import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import type { Topic, WakeQueue } from '../pipeline/wake-queue.port.js';
import { TopicTurns } from './topic-turns.js';

/** Wake-ups beyond this many waiting ones are left to the sweep, which finds the same work. */
const MAX_WAITING = 100_000;

/** Wake-ups within one process: nothing is kept, and nothing needs to be. */
export class InProcessQueue implements WakeQueue {
  private readonly topics = new Map<Topic, TopicTurns>();
  private isClosed = false;

  constructor(private readonly logger: Logger) {}

  async announce(topic: Topic, ids: readonly string[], org = ''): Promise<void> {
    if (this.isClosed) return;
    const turns = this.turnsOf(topic);
    turns.add(ids.slice(0, Math.max(0, MAX_WAITING - turns.size)), org);
  }

  async consume(topic: Topic, concurrency: number, handle: (id: string) => Promise<void>): Promise<void> {
    const turns = this.turnsOf(topic);
    if (turns.isConsuming) throw new Error(`the topic ${topic} has a consumer`);
    turns.consume(concurrency, handle);
  }

  async healthy(): Promise<boolean> {
    return !this.isClosed;
  }

  async close(graceMs: number): Promise<void> {
    this.isClosed = true;
    const stopped = Promise.all([...this.topics.values()].map((turns) => turns.stop()));
    await within(graceMs, stopped).catch(() => undefined);
  }

  private turnsOf(topic: Topic): TopicTurns {
    let turns = this.topics.get(topic);
    if (!turns) this.topics.set(topic, (turns = new TopicTurns(topic, this.logger)));
    return turns;
  }
}
