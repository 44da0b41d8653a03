import { noContent, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { onOrganization } from '../guards.js';
import { renameOwner } from '../make/repository.js';
import { listed } from '../paging.js';
import { isOrgMember } from '../permissions.js';
import type { Handlers } from '../registry.js';
import { renderUser } from '../render/user.js';
import type { Organization, User, World } from '../world.js';

function membersOf(world: World, org: Organization): User[] {
  const ids = new Set([...world.teams.values()].filter((team) => team.orgId === org.id).flatMap((team) => [...team.members]));
  return [...ids].map((id) => world.user(id)).sort((a, b) => (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1));
}

export const memberHandlers: Handlers = {
  /** Membership is never made public in this world: whoever is no member sees nobody. */
  listOrgMembers: onOrganization('visible', (call) => {
    const members = isOrgMember(call.world, call.caller.user, call.org) ? membersOf(call.world, call.org) : [];
    return listed(call, members, (user) => renderUser(call.view, user), { link: true });
  }),

  renameOrg: onOrganization('owner', (call) => {
    const { new_name: name = '' } = bind(call, { new_name: field.text({ required: true }) });
    const other = call.world.ownerByName(name);
    if (other && other.id !== call.org.id) throw unprocessable(`user already exists [name: ${name}]`);
    renameOwner(call.world, call.org, name);
    return noContent();
  }),
};
