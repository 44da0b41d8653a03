import { Inject, Module, type DynamicModule, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { stopping } from '../core/part.js';
import { STOP_GRACE } from '../core/stop-grace.js';
import { ArrivalToIntents } from './decide.js';
import { Executor } from './execute/executor.js';
import { PipelineModule } from './pipeline.module.js';
import { Sweep } from './recover/sweep.js';
import { WAKE_QUEUE, type WakeQueue } from './wake-queue.port.js';

/**
 * One of each is not for the organization that has all the others, where the queue knows whose work it is. What is in the same stage at the same
 * time shares its statements, so that many at once cost the store less than few; the forge's own limits are kept by its client.
 */
const WORKERS_PER_TOPIC = { arrival: 129, event: 33, intent: 65, background: 5 } as const;

/** In processes that work: takes what the queue wakes and what the sweep finds, from the end of the start to the beginning of the stop. */
@Module({
  providers: [
    stopping({ sweep: Sweep, executor: Executor }, ({ sweep, executor }) =>
      Promise.all([sweep.stop(), executor.stop(STOP_GRACE.callsMs)]),
    ),
  ],
})
export class WorkersModule implements OnApplicationBootstrap {
  constructor(
    @Inject(WAKE_QUEUE) private readonly queue: WakeQueue,
    private readonly flow: ArrivalToIntents,
    private readonly executor: Executor,
    private readonly sweep: Sweep,
  ) {}

  /** @param before modules that have started when the work begins */
  static after(...before: Type[]): DynamicModule {
    return { module: WorkersModule, imports: [PipelineModule, ...before] };
  }

  async onApplicationBootstrap(): Promise<void> {
    const { queue, flow, executor, sweep } = this;
    queue.whenMissed?.(() => void sweep.again());
    await queue.consume('arrival', WORKERS_PER_TOPIC.arrival, (id) => sweep.arrival(id));
    await queue.consume('event', WORKERS_PER_TOPIC.event, (id) => flow.decideEvent(id));
    await executor.start(WORKERS_PER_TOPIC.intent, WORKERS_PER_TOPIC.background);
    sweep.start();
  }
}
