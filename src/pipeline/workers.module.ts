import { Module, type DynamicModule, type OnApplicationBootstrap, type Provider, type Type } from '@nestjs/common';
import { Draining } from '../platform/draining.js';
import { STOP_GRACE } from '../platform/stop-grace.js';
import { DecideTurns } from './decide/decide-turns.js';
import { Executor } from './execute/executor.js';
import { PipelineModule } from './pipeline.module.js';
import { StorePoll } from './store-poll.js';

/** In processes that work: gives lines their turns, from the end of the start to the beginning of the stop. */
@Module({})
export class WorkersModule extends Draining implements OnApplicationBootstrap {
  constructor(
    private readonly deciding: DecideTurns,
    private readonly executor: Executor,
    private readonly poll: StorePoll,
  ) {
    super();
  }

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

  protected drain(): Promise<unknown> {
    const { callsMs } = STOP_GRACE;
    return Promise.all([this.poll.stop(), this.deciding.stop(callsMs), this.executor.stop(callsMs)]);
  }
}
