import { seededRandom } from '../../core/seeded-random.js';
import type { SandboxParts } from '../parts.js';
import { makeOrganization } from '../resources/organization.js';
import { makeTeam } from '../resources/team.js';
import { makeUser } from '../resources/user.js';
import type { Organization, User } from '../world.js';
import { type AcmePlan, type PersonPlan, planAcme, repoOf } from './acme-plan.js';
import { seedActivity } from './seed-activity.js';
import { SeedClock } from './seed-clock.js';
import { apiAs, type SeedContext, someOwner } from './seed-context.js';
import { seedRepository } from './seed-repository.js';

/** The people, and the organization with its teams of owners, writers and readers. Passwords are random. */
function seedPeople({ world }: SandboxParts, plan: AcmePlan): Organization {
  const people = (list: readonly PersonPlan[]): User[] => list.map((person) => makeUser(world, person));
  const owners = people(plan.owners);
  const writers = people(plan.writers);
  const readers = people(plan.readers);
  makeUser(world, plan.outsider);
  const [founder, ...others] = owners as [User, ...User[]];
  const org = makeOrganization(world, { name: plan.org, owner: founder, fullName: 'Acme Corp' });
  const team = [...world.teams.values()].find((one) => one.orgId === org.id);
  for (const other of others) team?.members.add(other.id);
  const everywhere = { org, includesAllRepositories: true } as const;
  makeTeam(world, {
    ...everywhere,
    name: 'writers',
    description: 'those who build',
    permission: 'write',
    members: writers,
  });
  makeTeam(world, {
    ...everywhere,
    name: 'readers',
    description: 'those who look on',
    permission: 'read',
    members: readers,
  });
  return org;
}

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
