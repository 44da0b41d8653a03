import { makeOrganization } from '../resources/organization.js';
import { makeTeam } from '../resources/team.js';
import { makeUser } from '../resources/user.js';
import type { SandboxParts } from '../parts.js';
import type { Organization, User } from '../world.js';
import type { AcmePlan, PersonPlan } from './acme-plan.js';

/** The people, and the organization with its teams of owners, writers and readers. Passwords are random. */
export function seedPeople({ world }: SandboxParts, plan: AcmePlan): Organization {
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
  makeTeam(world, { ...everywhere, name: 'writers', description: 'those who build', permission: 'write', members: writers });
  makeTeam(world, { ...everywhere, name: 'readers', description: 'those who look on', permission: 'read', members: readers });
  return org;
}
