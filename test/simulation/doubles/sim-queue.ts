import type { Topic, WakeQueue } from '../../../src/pipeline/wake-queue.port.js';
import type { SimProcess } from '../world/sim-process.js';
import type { World } from '../world/world.js';

interface Consumer {
  readonly process: SimProcess;
  readonly topic: Topic;
  readonly concurrency: number;
  readonly handle: (id: string) => Promise<void>;
  readonly waiting: string[];
  running: number;
}

/** Wake-ups between the processes, as bad as a queue may be: lost, late, twice, to a process that is dead already. */
export class SimQueue {
  private consumers: Consumer[] = [];

  constructor(private readonly world: World) {}

  /** The queue as one process sees it. */
  of(process: SimProcess): WakeQueue {
    return {
      announce: async (topic, ids) => this.announce(topic, ids),
      consume: async (topic, concurrency, handle) =>
        void this.consumers.push({ process, topic, concurrency, handle, waiting: [], running: 0 }),
      healthy: async () => !this.world.chance('queue-away'),
      close: async () => undefined,
    };
  }

  private announce(topic: Topic, ids: readonly string[]): void {
    const { world } = this;
    this.consumers = this.consumers.filter(({ process }) => !process.isDead);
    const able = this.consumers.filter((consumer) => consumer.topic === topic);
    if (able.length === 0) return;
    for (const id of ids) {
      if (world.chance('wake-lost')) continue;
      const times = world.chance('wake-twice') ? 2 : 1;
      for (let n = 0; n < times; n += 1) {
        const consumer = world.chances.pick(able);
        const lateMs = world.chance('wake-late') ? world.chances.between(100, 4_000) : world.chances.between(0, 5);
        world.time.after(consumer.process, lateMs, () => this.take(consumer, id));
      }
    }
  }

  private take(consumer: Consumer, id: string): void {
    if (consumer.running >= consumer.concurrency) return void consumer.waiting.push(id);
    consumer.running += 1;
    const end = (): void => {
      consumer.running -= 1;
      const next = consumer.waiting.shift();
      if (next !== undefined) this.take(consumer, next);
    };
    consumer.handle(id).then(end, (error: unknown) => {
      this.world.log(consumer.process.name, 'handler failed', error);
      end();
    });
  }
}
