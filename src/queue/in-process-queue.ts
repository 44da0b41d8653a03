import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import type { Topic, WakeQueue } from '../pipeline/wake-queue.port.js';
import { TopicTurns } from './topic-turns.js';

/** Wake-ups beyond this many waiting ones are left to the sweep, which finds the same work. */
const MAX_WAITING = 100_000;
/** As many wait where nobody consumes: in a process that is starting, or that never will. */
const MAX_EARLY = 1_000;

/** Wake-ups within one process: nothing is kept, and nothing needs to be. */
export class InProcessQueue implements WakeQueue {
  private readonly topics = new Map<Topic, TopicTurns>();
  private isClosed = false;

  constructor(private readonly logger: Logger) {}

  async announce(topic: Topic, ids: readonly string[], org = ''): Promise<void> {
    this.add(topic, ids, org);
  }

  /** @returns those that were not known here, and did not begin at once */
  add(topic: Topic, ids: readonly string[], org: string): string[] {
    if (this.isClosed) return [];
    const turns = this.turnsOf(topic);
    const fresh = ids.filter((id) => !turns.isWaiting(id) && !turns.isRunning(id));
    const room = (turns.isConsuming ? MAX_WAITING : MAX_EARLY) - turns.size;
    turns.add(ids.slice(0, Math.max(0, room)), org);
    return fresh.filter((id) => !turns.isRunning(id));
  }

  /** Begins those for which there is room, and forgets the others. */
  beginIfRoom(topic: Topic, ids: readonly string[], org: string): void {
    if (this.isClosed) return;
    const turns = this.turnsOf(topic);
    for (const id of ids) if (!turns.isWaiting(id) && !turns.isRunning(id)) turns.addIfRoom(id, org);
  }

  isConsuming(topic: Topic): boolean {
    return this.turnsOf(topic).isConsuming;
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
