import { silentLogger } from '../../../src/core/logger.js';
import type { Topic, WorkQueue } from '../../../src/pipeline/work-queue.port.js';
import { Lines } from '../../../src/queue/lines.js';
import type { SimProcess } from '../world/sim-process.js';
import type { World } from '../world/world.js';

interface Serving {
  readonly process: SimProcess;
  readonly topic: Topic;
  readonly lines: Lines;
}

/** Rings between the processes, as bad as a queue may be: lost, late, twice, to a process that is dead already. */
export class SimQueue {
  private serving: Serving[] = [];

  constructor(private readonly world: World) {}

  /** The queue as one process sees it: its own rings may go to any process. */
  of(process: SimProcess): WorkQueue {
    const lines = new Lines(silentLogger);
    return {
      ring: (topic, org) => this.ring(topic, org),
      ringHere: (topic, org) => lines.ring(topic, org),
      serve: async (topic, atOnce, turn) => {
        await lines.serve(topic, atOnce, turn);
        this.serving.push({ process, topic, lines });
      },
      healthy: async () => true,
      close: async () => undefined,
    };
  }

  private ring(topic: Topic, org: string): void {
    const { world } = this;
    this.serving = this.serving.filter(({ process }) => !process.isDead);
    const able = this.serving.filter((one) => one.topic === topic);
    if (able.length === 0 || world.chance('wake-lost')) return;
    const times = world.chance('wake-twice') ? 2 : 1;
    for (let n = 0; n < times; n += 1) {
      const { process, lines } = world.chances.pick(able);
      const lateMs = world.chance('wake-late') ? world.chances.between(100, 4_000) : world.chances.between(0, 5);
      world.time.after(process, lateMs, () => lines.ring(topic, org));
    }
  }
}
