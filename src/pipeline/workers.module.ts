import { Module, type DynamicModule, type OnApplicationBootstrap, type Provider, type Type } from '@nestjs/common';
import { stopping } from '../core/part.js';
import { STOP_GRACE } from '../core/stop-grace.js';
import { DecideTurns } from './decide/decide-turns.js';
import { Executor } from './execute/executor.js';
import { PipelineModule } from './pipeline.module.js';
import { StorePoll } from './store-poll.js';

/** In processes that work: gives lines their turns, from the end of the start to the beginning of the stop. */
@Module({
  providers: [
    stopping({ poll: StorePoll, deciding: DecideTurns, executor: Executor }, ({ poll, deciding, executor }) =>
      Promise.all([poll.stop(), deciding.stop(STOP_GRACE.callsMs), executor.stop(STOP_GRACE.callsMs)]),
    ),
  ],
})
export class WorkersModule implements OnApplicationBootstrap {
  constructor(
    private readonly deciding: DecideTurns,
    private readonly executor: Executor,
    private readonly poll: StorePoll,
  ) {}

  /**
   * @param processors take rings from other processes
   * @param before modules that have started when the work begins
   */
  static of(processors: Provider[], before: Type[]): DynamicModule {
    return { module: WorkersModule, imports: [PipelineModule, ...before], providers: processors };
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.deciding.start();
    await this.executor.start();
    this.poll.start();
  }
}
