import { claimNext } from '../acts/workflow-acts.js';
import { finishTask } from '../resources/job.js';
import type { Repository } from '../world.js';
import type { SeedContext } from './seed-context.js';

/** The runner works off what waits; about one job in six fails, so that there is something to look at. */
export function seedRuns({ parts, random, clock }: SeedContext, repo: Repository): void {
  for (let task = claimNext(parts.world, repo); task; task = claimNext(parts.world, repo)) {
    clock.pass(1 + random.below(4));
    finishTask(parts.world, task, random.below(6) === 0 ? 'failure' : 'success');
  }
}
