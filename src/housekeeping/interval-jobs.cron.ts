import type { OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Logger } from '../core/logger.js';

/** Work that a timer wakes regularly; the work itself decides what is due. */
export interface IntervalJob {
  readonly name: string;
  readonly everyMs: number;
  /** A failure is logged, and the timer goes on. */
  wake(): Promise<unknown>;
}

/** Timers of the framework, from when the application is up until it is closed. They wake and decide nothing. */
export class IntervalJobs implements OnApplicationBootstrap {
  constructor(
    private readonly registry: Pick<SchedulerRegistry, 'addInterval'>,
    private readonly wakes: readonly IntervalJob[],
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    for (const one of this.wakes)
      this.registry.addInterval(
        `forgehand.${one.name}`,
        setInterval(() => void this.wake(one), one.everyMs),
      );
  }

  private async wake({ name, wake }: IntervalJob): Promise<void> {
    try {
      await wake();
    } catch (error) {
      this.logger.warn({ job: name, error }, 'interval-job.failed');
    }
  }
}
