import { InjectQueue, OnQueueCompleted, OnQueueFailed, Process, Processor } from '@nestjs/bull';
import { Inject, type OnModuleDestroy } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { LINES_AT_ONCE, TOPICS, WorkQueue, type Topic } from '../pipeline/work-queue.port.js';
import type { Lines } from './lines.js';

type LineJob = Job<{ org?: unknown } | null | undefined>;

/**
 * Gives lines their turns. Bull holds the job of a line as long as its turn lasts, and drops rings meanwhile: when it is over the id is free, and the line is looked at.
 * The queue stands still in this process until `WorkQueue.serve`: a job taken before would hold its line against workers that are ready.
 */
abstract class LineProcessor implements OnModuleDestroy {
  constructor(
    private readonly topic: Topic,
    private readonly queue: Queue,
    private readonly lines: Lines,
  ) {
    void queue.pause(true, true);
  }

  @OnQueueCompleted()
  async completed(job: LineJob, isLeft: boolean): Promise<void> {
    const org = orgOf(job);
    if (org === null) return;
    if (isLeft) this.lines.ring(this.topic, org);
    else await this.lines.look(this.topic, org);
  }

  @OnQueueFailed()
  failed(job: LineJob | null): Promise<void> {
    return job ? this.completed(job, false) : Promise.resolve();
  }

  /** Others may take what is rung from now on. */
  onModuleDestroy(): void {
    if (this.queue.client.status === 'ready') this.queue.pause(true, true).catch(() => undefined);
  }

  protected async giveTurn(job: LineJob): Promise<boolean> {
    const org = orgOf(job);
    return org !== null && this.lines.turn(this.topic, org);
  }
}

/** Whoever may write to our Redis may write anything: a line that has no work has a turn for nothing. */
function orgOf({ data }: LineJob): string | null {
  return typeof data?.org === 'string' ? data.org : null;
}

function processorOf(topic: Topic) {
  @Processor(topic)
  class OfTopic extends LineProcessor {
    constructor(@InjectQueue(topic) queue: Queue, @Inject(WorkQueue) lines: Lines) {
      super(topic, queue, lines);
    }

    @Process({ concurrency: LINES_AT_ONCE[topic] })
    take(job: LineJob): Promise<boolean> {
      return this.giveTurn(job);
    }
  }
  return OfTopic;
}

export const PROCESSORS = TOPICS.map(processorOf);
