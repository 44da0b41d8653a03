import type { JsonObject } from '../../core/json.js';
import type { Answer } from '../answer.js';
import { created, forbidden, noContent, notFound, serverError, unauthorized, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import type { OrgCall } from '../guards.js';
import { onOrganization } from '../guards.js';
import type { Call, Handler } from '../handler.js';
import { addMember, makeTeam } from '../make/people.js';
import { listed } from '../paging.js';
import { isOrgMember, isOrgOwner, teamReaches } from '../permissions.js';
import { readId } from '../read-id.js';
import type { Handlers } from '../registry.js';
import { renderRepository } from '../render/repository.js';
import { renderTeam } from '../render/team.js';
import { renderUser } from '../render/user.js';
import type { Mode, Organization, Team, Unit, User } from '../world.js';
import { MODES, UNITS } from '../world.js';

interface TeamCall extends Call {
  team: Team;
  org: Organization;
}

/** By id; members of the organization may look, its owners may write. */
function onTeam(level: 'member' | 'owner', run: (call: TeamCall) => Answer): Handler {
  return (call) => {
    const { caller, world } = call;
    const team = world.teams.get(readId(call.params.id));
    const org = team && world.owner(team.orgId);
    if (!team || org?.kind !== 'organization') throw notFound();
    if (!caller.user) throw unauthorized();
    if (!isOrgMember(world, caller.user, org)) throw notFound();
    if (level === 'owner' && !isOrgOwner(world, caller.user, org)) throw forbidden('Must be an organization owner');
    return run({ ...call, team, org });
  };
}

function isUnit(name: string): name is Unit {
  return (UNITS as readonly string[]).includes(name);
}

function isMode(value: unknown): value is Mode {
  return (MODES as readonly unknown[]).includes(value);
}

/** Rights by unit, or undefined when none are told. */
function unitsOf(permission: Mode, units: readonly string[] | undefined, map: JsonObject | undefined): Map<Unit, Mode> | undefined {
  const pairs: [string, unknown][] = map ? Object.entries(map) : (units ?? []).map((unit) => [unit, permission]);
  const known = pairs.filter((pair): pair is [Unit, Mode] => isUnit(pair[0]) && isMode(pair[1]));
  return known.length === 0 ? undefined : new Map(known);
}

/** A team that is no admin team needs units; without any it is 500, as on a real server. */
function make(call: OrgCall): Team {
  const { world, org } = call;
  const wish = bind(call, {
    name: field.text({ required: true, max: 255, rule: (name) => (/^[A-Za-z0-9\-_.]+$/.test(name) ? undefined : 'AlphaDashDot') }),
    description: field.text({ max: 255 }),
    permission: field.text({ rule: (word) => (['read', 'write', 'admin'].includes(word) ? undefined : 'In') }),
    units: field.texts(),
    units_map: field.object(),
    includes_all_repositories: field.flag(),
    can_create_org_repo: field.flag(),
  });
  const name = wish.name ?? '';
  const permission = (wish.permission || 'read') as Mode;
  const units = unitsOf(permission, wish.units, wish.units_map);
  if (permission !== 'admin' && !units) throw serverError('units permission should not be empty');
  if ([...world.teams.values()].some((team) => team.orgId === org.id && team.name.toLowerCase() === name.toLowerCase())) {
    throw unprocessable(`team already exists [org_id: ${org.id}, name: ${name}]`);
  }
  const team = makeTeam(world, {
    org,
    name,
    permission,
    description: wish.description ?? '',
    includesAllRepositories: wish.includes_all_repositories ?? false,
    canCreateOrgRepo: wish.can_create_org_repo ?? permission === 'admin',
  });
  if (permission !== 'admin' && units) team.units = units;
  return team;
}

/** Owners first, then by name. */
function teamsIn({ org, world }: OrgCall): Team[] {
  const key = (team: Team): string => (team.permission === 'owner' ? '' : team.name.toLowerCase());
  return [...world.teams.values()].filter((team) => team.orgId === org.id).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function membersOf({ team, world }: TeamCall): User[] {
  return [...team.members].map((id) => world.user(id)).sort((a, b) => (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1));
}

function personOf(call: TeamCall): User {
  const user = call.world.userByName(call.params.username ?? '');
  if (!user) throw notFound();
  return user;
}

export const teamHandlers: Handlers = {
  listOrgTeams: onOrganization('member', (call) => listed(call, teamsIn(call), (team) => renderTeam(call.view, team))),
  createTeam: onOrganization('owner', (call) => created(renderTeam(call.view, make(call), { withOrganization: true }))),
  listTeamMembers: onTeam('member', (call) => listed(call, membersOf(call), (user) => renderUser(call.view, user))),
  addTeamMember: onTeam('owner', (call) => {
    addMember(call.world, call.team, personOf(call));
    call.world.changed('team', call.team.id, 'updated');
    return noContent();
  }),
  removeTeamMember: onTeam('owner', (call) => {
    call.team.members.delete(personOf(call).id);
    call.world.changed('team', call.team.id, 'updated');
    return noContent();
  }),
  listTeamRepos: onTeam('member', (call) => {
    const repos = [...call.world.repos.values()].filter((repo) => teamReaches(call.team, repo));
    return listed(call, repos, (repo) => renderRepository(call.view, repo));
  }),
};
