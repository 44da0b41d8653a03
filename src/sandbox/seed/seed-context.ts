import type { JsonObject } from '../../core/json.js';
import type { SeededRandom } from '../../core/seeded-random.js';
import { actContext } from '../acts/act-context.js';
import type { ActContext } from '../acts/define-act.js';
import { performAct } from '../acts/perform-act.js';
import { claimNext } from '../acts/workflow-acts.js';
import type { SandboxParts } from '../parts.js';
import { finishTask } from '../resources/job.js';
import type { Organization, Repository, User } from '../world.js';
import type { AcmePlan, PersonPlan } from './acme-plan.js';
import type { SeedClock } from './seed-clock.js';

/** What the steps of the seed share. */
export interface SeedContext {
  readonly parts: SandboxParts;
  readonly plan: AcmePlan;
  readonly random: SeededRandom;
  readonly clock: SeedClock;
  readonly org: Organization;
}

export function personOf({ parts }: SeedContext, person: PersonPlan): User {
  const user = parts.world.userByName(person.login);
  if (!user) throw new Error(`the seed has not made ${person.login} yet`);
  return user;
}

/** Whoever of the writers it happens to be. */
export function someWriter(context: SeedContext): User {
  return personOf(context, context.random.pick(context.plan.writers));
}

export function someOwner(context: SeedContext): User {
  return personOf(context, context.random.pick(context.plan.owners));
}

export function apiAs({ parts }: SeedContext, user: User): ActContext {
  return actContext(parts, user);
}

/** One act, some time after the last. */
export async function act(context: SeedContext, by: User, name: string, params: JsonObject): Promise<void> {
  context.clock.pass(10 + context.random.below(50));
  await performAct(context.parts, { as: by.login, act: name, params });
}

/** The runner works off what waits; about one job in six fails, so that there is something to look at. */
export function seedRuns({ parts, random, clock }: SeedContext, repo: Repository): void {
  for (let task = claimNext(parts.world, repo); task; task = claimNext(parts.world, repo)) {
    clock.pass(1 + random.below(4));
    finishTask(parts.world, task, random.below(6) === 0 ? 'failure' : 'success');
  }
}
