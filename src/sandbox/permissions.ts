import {
  atLeast,
  higherOf,
  type Id,
  type Mode,
  type Organization,
  type Owner,
  type Repository,
  type Team,
  type Unit,
  UNITS,
  type User,
  type World,
} from './world.js';

/** What somebody may do in a repository: a general mode, and one per unit (teams give units only). */
export interface Permission {
  mode: Mode;
  units: ReadonlyMap<Unit, Mode>;
}

const NOTHING: Permission = { mode: 'none', units: new Map() };

/** Setting of the repository that switches a unit off. */
const SWITCH_OF: Partial<
  Record<
    Unit,
    | 'has_code'
    | 'has_issues'
    | 'has_pull_requests'
    | 'has_releases'
    | 'has_wiki'
    | 'has_projects'
    | 'has_packages'
    | 'has_actions'
  >
> = {
  'repo.code': 'has_code',
  'repo.issues': 'has_issues',
  'repo.pulls': 'has_pull_requests',
  'repo.releases': 'has_releases',
  'repo.wiki': 'has_wiki',
  'repo.projects': 'has_projects',
  'repo.packages': 'has_packages',
  'repo.actions': 'has_actions',
};

export function isUnitOn(repo: Repository, unit: Unit): boolean {
  const name = SWITCH_OF[unit];
  return name !== undefined && repo.settings[name];
}

/** Teams of an organization that a user is in. */
export function teamsOf(world: World, orgId: Id, userId: Id): Team[] {
  return [...world.teams.values()].filter((team) => team.orgId === orgId && team.members.has(userId));
}

export function isOrgOwner(world: World, user: User | null, org: Organization): boolean {
  return user !== null && (user.isAdmin || teamsOf(world, org.id, user.id).some((team) => team.permission === 'owner'));
}

export function isOrgMember(world: World, user: User | null, org: Organization): boolean {
  return user !== null && (user.isAdmin || teamsOf(world, org.id, user.id).length > 0);
}

/** Limited owners are seen by everybody who is logged in, private ones by their members (and themselves). */
export function canSeeOwner(world: World, user: User | null, owner: Owner): boolean {
  if (owner.visibility === 'public' || user?.isAdmin || user?.id === owner.id) return true;
  if (user === null || user.restricted) return false;
  return owner.visibility === 'limited' || (owner.kind === 'organization' && isOrgMember(world, user, owner));
}

export function teamReaches(team: Team, repo: Repository): boolean {
  return team.orgId === repo.ownerId && (team.includesAllRepositories || team.repos.has(repo.id));
}

function openMode(world: World, user: User | null, repo: Repository): Mode {
  if (repo.private || user?.restricted) return 'none';
  return canSeeOwner(world, user, world.ownerOf(repo)) ? 'read' : 'none';
}

/** Mode that binds the whole repository: ownership, collaboration, an admin team, or being public. */
function generalMode(world: World, user: User | null, repo: Repository, teams: readonly Team[]): Mode {
  if (user === null) return openMode(world, user, repo);
  if (user.isAdmin || repo.ownerId === user.id) return 'owner';
  let mode = higherOf(openMode(world, user, repo), repo.collaborators.get(user.id) ?? 'none');
  for (const team of teams) if (atLeast(team.permission, 'admin')) mode = higherOf(mode, team.permission);
  return mode;
}

export function permissionOn(world: World, user: User | null, repo: Repository): Permission {
  const teams =
    user === null
      ? []
      : teamsOf(world, repo.ownerId, user.id).filter((team) => team.permission === 'owner' || teamReaches(team, repo));
  const mode = generalMode(world, user, repo, teams);
  const units = new Map<Unit, Mode>();
  for (const unit of UNITS) {
    if (!isUnitOn(repo, unit)) continue;
    const best = teams.reduce<Mode>((so, team) => higherOf(so, team.units.get(unit) ?? 'none'), mode);
    if (best !== 'none') units.set(unit, best);
  }
  return mode === 'none' && units.size === 0 ? NOTHING : { mode, units };
}

export function unitMode(permission: Permission, unit: Unit): Mode {
  return permission.units.get(unit) ?? 'none';
}

export function canRead(permission: Permission, unit: Unit): boolean {
  return atLeast(unitMode(permission, unit), 'read');
}

export function canWrite(permission: Permission, unit: Unit): boolean {
  return atLeast(unitMode(permission, unit), 'write');
}

export function isRepoAdmin(permission: Permission): boolean {
  return atLeast(permission.mode, 'admin');
}

/** Whoever may see nothing of a repository is told that it does not exist. */
export function canSee(permission: Permission): boolean {
  return permission.mode !== 'none' || permission.units.size > 0;
}
