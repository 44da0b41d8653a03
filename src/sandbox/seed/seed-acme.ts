import type { SandboxParts } from '../parts.js';
import { seededRandom } from '../../core/seeded-random.js';
import { planAcme, repoOf } from './acme-plan.js';
import { seedActivity } from './seed-activity.js';
import { SeedClock } from './seed-clock.js';
import type { SeedContext } from './seed-context.js';
import { apiAs, someOwner } from './seed-context.js';
import { seedPeople } from './seed-people.js';
import { seedRepository } from './seed-repository.js';

/** How long the organization has been there, so that nothing of its past is news. */
const AGE_DAYS = 30;

/**
 * Fills a world with the living organization `acme`: people and teams, a dozen repositories of every kind, releases, images, labels,
 * issues, a pull request, workflow runs, protections and the variable LAST_RELEASE. The same seed gives the same names in the same order;
 * `planAcme` tells them beforehand. All of it lies in the past: the world's own clock goes on afterwards.
 */
export async function seedAcme(parts: SandboxParts, seed: number): Promise<void> {
  const { world } = parts;
  const plan = planAcme(seed);
  const realClock = world.clock;
  const clock = new SeedClock(realClock, AGE_DAYS);
  world.clock = clock;
  try {
    const org = seedPeople(parts, plan);
    const context: SeedContext = { parts, plan, random: seededRandom(seed), clock, org };
    for (const repo of plan.repos) await seedRepository(context, repo);
    await seedActivity(context);
    await apiAs(context, someOwner(context)).call('createOrgVariable', {
      params: { org: plan.org, variablename: 'LAST_RELEASE' },
      body: { value: repoOf(plan, 'product').releases.at(-1) ?? 'none' },
    });
  } finally {
    world.clock = realClock;
  }
}
