import type { team as apiTeam } from '../../core/objects/accounts.js';
import type { JsonObject } from '../../core/json.js';
import { created, forbidden, notFound, serverError, unauthorized, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { forUser, onOrganization, type OrgCall, readId } from '../guards.js';
import { shaped, type View, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import { isOrgMember, isOrgOwner, teamReaches } from '../permissions.js';
import type { Call, Given, Handler, Handlers } from '../handler.js';
import { type Mode, MODES, type Organization, type Unit, UNITS, type User, type World } from '../world.js';
import { renderRepository } from './repository.js';
import type { Team } from '../entities/people.js';
import { renderOrganization, renderUser } from './owner-view.js';

interface TeamWish
  extends
    Pick<Team, 'name' | 'permission'>,
    Partial<Pick<Team, 'description' | 'includesAllRepositories' | 'canCreateOrgRepo'>> {
  org: Organization;
  /** Default all; ignored for `admin` and `owner`. */
  units?: readonly Unit[];
  members?: readonly User[];
}

/** Members come to watch every repository that their team reaches. */
export function makeTeam(world: World, wish: TeamWish): Team {
  const isWide = wish.permission === 'admin' || wish.permission === 'owner';
  const units = isWide ? UNITS : (wish.units ?? UNITS);
  const team: Team = {
    id: world.nextId('team'),
    orgId: wish.org.id,
    name: wish.name,
    description: wish.description ?? '',
    permission: wish.permission,
    units: new Map(units.map((unit) => [unit, wish.permission])),
    includesAllRepositories: wish.includesAllRepositories ?? false,
    canCreateOrgRepo: wish.canCreateOrgRepo ?? isWide,
    visibility: wish.permission === 'owner' ? 'limited' : 'private',
    members: new Set(),
    repos: new Set(),
  };
  world.add('team', world.teams, team);
  for (const member of wish.members ?? []) addMember(world, team, member);
  return team;
}

export function addMember(world: World, team: Team, user: User): void {
  team.members.add(user.id);
  for (const repo of world.repos.values()) {
    if (repo.ownerId === team.orgId && (team.includesAllRepositories || team.repos.has(repo.id)))
      repo.watchers.add(user.id);
  }
}

/** A team. Where rights come from units, most servers say `none` for its `permission`. */
export function renderTeam(
  view: View,
  team: Team,
  options: { withOrganization?: boolean } = {},
): Shown<typeof apiTeam> {
  const org = view.world.owner(team.orgId);
  const units = UNITS.filter((unit) => team.units.has(unit));
  const isTold =
    team.permission === 'admin' || team.permission === 'owner' || view.profile.access.teamPermission === 'told';
  return shaped(view, 'team', {
    id: team.id,
    name: team.name,
    description: team.description,
    organization: options.withOrganization && org.kind === 'organization' ? renderOrganization(view, org) : null,
    includes_all_repositories: team.includesAllRepositories,
    permission: isTold ? team.permission : 'none',
    units,
    units_map: Object.fromEntries([...units].sort().map((unit) => [unit, team.units.get(unit) ?? 'none'])),
    can_create_org_repo: team.canCreateOrgRepo,
    visibility: team.visibility,
  });
}

interface TeamCall extends Call {
  team: Team;
  org: Organization;
}

/** By id; members of the organization may look, its owners may write. */
function onTeam(level: 'member' | 'owner', run: (call: TeamCall) => Given): Handler {
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
function unitsOf(
  permission: Mode,
  units: readonly string[] | undefined,
  map: JsonObject | undefined,
): Map<Unit, Mode> | undefined {
  const pairs: [string, unknown][] = map ? Object.entries(map) : (units ?? []).map((unit) => [unit, permission]);
  const pairsOfUnits = pairs.filter((pair): pair is [Unit, Mode] => isUnit(pair[0]) && isMode(pair[1]));
  return pairsOfUnits.length === 0 ? undefined : new Map(pairsOfUnits);
}

/** A team that is no admin team needs units; without any it is 500, as on a real server. */
function make(call: OrgCall): Team {
  const { world, org } = call;
  const wish = bind(call, {
    name: field.text({
      required: true,
      max: 255,
      rule: (name) => (/^[A-Za-z0-9\-_.]+$/.test(name) ? undefined : 'AlphaDashDot'),
    }),
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
  if (
    [...world.teams.values()].some((team) => team.orgId === org.id && team.name.toLowerCase() === name.toLowerCase())
  ) {
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
  return [...team.members]
    .map((id) => world.user(id))
    .sort((a, b) => (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1));
}

function personOf(call: TeamCall): User {
  const user = call.world.userByName(call.params.username ?? '');
  if (!user) throw notFound();
  return user;
}

export const teamHandlers: Handlers = {
  listMyTeams: forUser((call) => {
    const mine = [...call.world.teams.values()].filter(({ members }) => members.has(call.user.id));
    return listed(call, mine, (team) => renderTeam(call.view, team, { withOrganization: true }));
  }),
  listOrgTeams: onOrganization('member', (call) => listed(call, teamsIn(call), (team) => renderTeam(call.view, team))),
  createTeam: onOrganization('owner', (call) => created(renderTeam(call.view, make(call), { withOrganization: true }))),
  listTeamMembers: onTeam('member', (call) => listed(call, membersOf(call), (user) => renderUser(call.view, user))),
  addTeamMember: onTeam('owner', (call) => {
    addMember(call.world, call.team, personOf(call));
    call.world.changed('team', call.team.id, 'updated');
  }),
  removeTeamMember: onTeam('owner', (call) => {
    call.team.members.delete(personOf(call).id);
    call.world.changed('team', call.team.id, 'updated');
  }),
  listTeamRepos: onTeam('member', (call) => {
    const repos = [...call.world.repos.values()].filter((repo) => teamReaches(call.team, repo));
    return listed(call, repos, (repo) => renderRepository(call.view, repo));
  }),
};
