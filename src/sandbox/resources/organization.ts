import type { organizationPermissions as apiOrganizationPermissions } from '../../core/objects/accounts.js';
import { created, notFound, ok, Refusal, serverError, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, forUser, onOrganization, type OrgCall } from '../guards.js';
import type { Shown } from '../render/view.js';
import { listed } from '../paging.js';
import { isOrgMember, teamsOf } from '../permissions.js';
import { nameTaken } from '../redirects.js';
import type { Call, Handlers } from '../handler.js';
import { atLeast, higherOf, type Mode, type User, type Visibility, type World } from '../world.js';
import { makeTeam } from './team.js';
import { brokenOwnerName, deleteRest, renameOwner } from './user.js';
import type { Organization } from '../entities/people.js';
import { renderUser, renderOrganization } from './owner-view.js';

interface OrgWish {
  name: string;
  owner: User;
  fullName?: string;
  visibility?: Visibility;
}

/** An organization with its team of owners. */
export function makeOrganization(world: World, wish: OrgWish): Organization {
  const org: Organization = {
    kind: 'organization',
    id: world.nextId('owner'),
    login: wish.name,
    fullName: wish.fullName ?? '',
    email: '',
    visibility: wish.visibility ?? 'public',
    created: world.now(),
    website: '',
    description: '',
    location: '',
  };
  world.owners.set(org.id, org);
  nameTaken(world, org.login);
  world.changed('organization', org.id, 'created');
  makeTeam(world, {
    org,
    name: 'Owners',
    permission: 'owner',
    members: [wish.owner],
    includesAllRepositories: true,
    canCreateOrgRepo: true,
  });
  return org;
}

/** An organization without repositories, with its teams, hooks, labels and variables. */
function deleteOrganization(world: World, org: Organization): void {
  for (const team of world.teams.values()) if (team.orgId === org.id) world.teams.delete(team.id);
  for (const map of [world.hooks, world.labels]) for (const [id, one] of map) if (one.orgId === org.id) map.delete(id);
  deleteRest(world, org);
}

const VISIBILITIES: readonly Visibility[] = ['public', 'limited', 'private'];

function make(call: Call, owner: User): Organization {
  const wish = bind(call, {
    username: field.text({ required: true, max: 40, label: 'UserName', rule: brokenOwnerName }),
    full_name: field.text({ max: 100 }),
    description: field.text({ max: 255 }),
    visibility: field.text({ rule: (word) => ((VISIBILITIES as readonly string[]).includes(word) ? undefined : 'In') }),
  });
  const name = wish.username ?? '';
  if (call.world.ownerByName(name)) throw unprocessable(`user already exists [name: ${name}]`);
  const visibility = (wish.visibility || 'public') as Visibility;
  const org = makeOrganization(call.world, { name, owner, fullName: wish.full_name ?? '', visibility });
  org.description = wish.description ?? '';
  return org;
}

function organizationsOf(call: Call, user: User): Organization[] {
  const orgs = [...call.world.owners.values()].filter(
    (owner): owner is Organization =>
      owner.kind === 'organization' && teamsOf(call.world, owner.id, user.id).length > 0,
  );
  return orgs.sort((a, b) => (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1));
}

export const organizationHandlers: Handlers = {
  getOrg: onOrganization('visible', (call) => ok(renderOrganization(call.view, call.org))),
  listMyOrgs: forUser((call) =>
    listed(call, organizationsOf(call, call.user), (org) => renderOrganization(call.view, org)),
  ),
  createOrg: forUser((call) => created(renderOrganization(call.view, make(call, call.user)))),

  /** One that still has repositories is 500, as on a real server. */
  deleteOrg: onOrganization('owner', (call) => {
    if ([...call.world.repos.values()].some((repo) => repo.ownerId === call.org.id))
      throw serverError('user still has ownership of repositories');
    deleteOrganization(call.world, call.org);
  }),

  getOrgPermissions: onOrganization(
    'visible',
    (call) => {
      const user = call.world.userByName(call.params.username ?? '');
      if (!user) throw notFound();
      return ok(permissionsIn(call, user));
    },
    true,
  ),

  /** Whoever is no member is sent to the list of those who show themselves. */
  checkOrgMember: onOrganization('visible', (call) => {
    const { caller, org, params, world } = call;
    const user = world.userByName(params.username ?? '');
    if (!user) throw notFound();
    if (!isOrgMember(world, caller.user, org) && caller.user?.id !== user.id) {
      const location = call.rawPath.replace('/members/', '/public_members/');
      throw new Refusal(303, '', {
        body: `<a href="${location}">See Other</a>.\n\n`,
        headers: { location, 'content-type': 'text/html; charset=utf-8' },
      });
    }
    if (teamsOf(world, org.id, user.id).length === 0) throw notFound();
  }),
};

/** What the teams of somebody give as a whole; whether those count that give by units is the server's. */
function permissionsIn(call: OrgCall, user: User): Shown<typeof apiOrganizationPermissions> {
  const { world, profile, org } = call;
  const teams = teamsOf(world, org.id, user.id);
  const isTold = profile.access.teamPermission === 'told';
  const best = teams.reduce<Mode>(
    (so, team) => (isTold || atLeast(team.permission, 'admin') ? higherOf(so, team.permission) : so),
    user.isAdmin ? 'owner' : 'none',
  );
  return {
    is_owner: best === 'owner',
    is_admin: atLeast(best, 'admin'),
    can_write: atLeast(best, 'write'),
    can_read: atLeast(best, 'read'),
    can_create_repository: atLeast(best, 'owner') || teams.some(({ canCreateOrgRepo }) => canCreateOrgRepo),
  };
}

/** Owners, site admins, and members of a team that says so. */
export function mayMakeRepositories(call: Call & { org: Organization }): boolean {
  const user = doer(call);
  return (
    user.isAdmin ||
    teamsOf(call.world, call.org.id, user.id).some((team) => team.permission === 'owner' || team.canCreateOrgRepo)
  );
}

function membersOf(world: World, org: Organization): User[] {
  const ids = new Set(
    [...world.teams.values()].filter((team) => team.orgId === org.id).flatMap((team) => [...team.members]),
  );
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
  }),
};
