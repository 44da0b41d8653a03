import { created, noContent, notFound, ok, Refusal, serverError, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, forUser, onOrganization } from '../guards.js';
import type { Call } from '../handler.js';
import { deleteOrganization } from '../make/delete-owner.js';
import { makeOrganization } from '../make/people.js';
import { listed } from '../paging.js';
import { isOrgMember, teamsOf } from '../permissions.js';
import type { Handlers } from '../registry.js';
import { renderOrganization } from '../render/user.js';
import type { Organization, User, Visibility } from '../world.js';
import { brokenOwnerName } from '../owner-name.js';

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
    (owner): owner is Organization => owner.kind === 'organization' && teamsOf(call.world, owner.id, user.id).length > 0,
  );
  return orgs.sort((a, b) => (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1));
}

export const organizationHandlers: Handlers = {
  getOrg: onOrganization('visible', (call) => ok(renderOrganization(call.view, call.org))),
  listMyOrgs: forUser((call) => listed(call, organizationsOf(call, call.user), (org) => renderOrganization(call.view, org))),
  createOrg: forUser((call) => created(renderOrganization(call.view, make(call, call.user)))),

  /** One that still has repositories is 500, as on a real server. */
  deleteOrg: onOrganization('owner', (call) => {
    if ([...call.world.repos.values()].some((repo) => repo.ownerId === call.org.id)) throw serverError('user still has ownership of repositories');
    deleteOrganization(call.world, call.org);
    return noContent();
  }),

  /** Whoever is no member is sent to the list of those who show themselves. */
  checkOrgMember: onOrganization('visible', (call) => {
    const { caller, org, params, world } = call;
    const user = world.userByName(params.username ?? '');
    if (!user) throw notFound();
    if (!isOrgMember(world, caller.user, org)) {
      throw new Refusal(303, '', { body: null, headers: { location: call.rawPath.replace('/members/', '/public_members/') } });
    }
    if (teamsOf(world, org.id, user.id).length === 0) throw notFound();
    return noContent();
  }),
};

/** Owners, site admins, and members of a team that says so. */
export function mayMakeRepositories(call: Call & { org: Organization }): boolean {
  const user = doer(call);
  return user.isAdmin || teamsOf(call.world, call.org.id, user.id).some((team) => team.permission === 'owner' || team.canCreateOrgRepo);
}
