import type { Organization, User, World } from '../world.js';

/** An organization without repositories, with its teams, hooks, labels and variables. */
export function deleteOrganization(world: World, org: Organization): void {
  for (const team of world.teams.values()) if (team.orgId === org.id) world.teams.delete(team.id);
  for (const map of [world.hooks, world.labels]) for (const [id, one] of map) if (one.orgId === org.id) map.delete(id);
  deleteRest(world, org);
}

/** An account without repositories; what it wrote stays and is shown as the ghost's. */
export function deleteUser(world: World, user: User): void {
  for (const team of world.teams.values()) team.members.delete(user.id);
  for (const repo of world.repos.values()) for (const set of [repo.watchers, repo.stars, repo.collaborators]) set.delete(user.id);
  for (const token of world.tokens.values()) if (token.userId === user.id) world.tokens.delete(token.id);
  deleteRest(world, user);
}

function deleteRest(world: World, owner: Organization | User): void {
  for (const variable of world.variables.values()) if (variable.ownerId === owner.id) world.variables.delete(variable.id);
  for (const one of world.packages.values()) if (one.ownerId === owner.id) world.packages.delete(one.id);
  for (const [name, id] of world.ownerRedirects) if (id === owner.id) world.ownerRedirects.delete(name);
  world.owners.delete(owner.id);
  world.gone.add(owner.id);
  world.changed(owner.kind, owner.id, 'deleted');
}
