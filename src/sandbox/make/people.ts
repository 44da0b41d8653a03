import { randomBytes } from 'node:crypto';
import type { Id, Mode, Organization, PackageVersion, Team, Token, Unit, User, Visibility, World } from '../world.js';
import { UNITS } from '../world.js';
import { nameTaken } from '../redirects.js';

export interface UserWish {
  login: string;
  fullName?: string;
  email?: string;
  /** Default random. */
  password?: string;
  isAdmin?: boolean;
  mustChangePassword?: boolean;
}

export function makeUser(world: World, wish: UserWish): User {
  const user: User = {
    kind: 'user',
    id: world.nextId('owner'),
    login: wish.login,
    fullName: wish.fullName ?? '',
    email: wish.email ?? `${wish.login}@example.org`,
    password: wish.password ?? randomBytes(12).toString('base64url'),
    isAdmin: wish.isAdmin ?? false,
    visibility: 'public',
    created: world.now(),
    lastLogin: 0,
    website: '',
    description: '',
    location: '',
    language: '',
    theme: world.habits.theme,
    diffViewStyle: '',
    hideEmail: false,
    hideActivity: false,
    pronouns: '',
    hidePronouns: false,
    repoUnitHints: false,
    restricted: false,
    prohibitLogin: false,
    mustChangePassword: wish.mustChangePassword ?? false,
  };
  world.owners.set(user.id, user);
  nameTaken(world, user.login);
  world.changed('user', user.id, 'created');
  return user;
}

export interface OrgWish {
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
    repoAdminChangeTeamAccess: true,
  };
  world.owners.set(org.id, org);
  nameTaken(world, org.login);
  world.changed('organization', org.id, 'created');
  makeTeam(world, { org, name: 'Owners', permission: 'owner', members: [wish.owner], includesAllRepositories: true, canCreateOrgRepo: true });
  return org;
}

export interface TeamWish {
  org: Organization;
  name: string;
  description?: string;
  permission: Mode;
  /** Default all; ignored for `admin` and `owner`. */
  units?: readonly Unit[];
  members?: readonly User[];
  includesAllRepositories?: boolean;
  canCreateOrgRepo?: boolean;
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
    visibility: 'private',
    members: new Set(),
    repos: new Set(),
  };
  world.teams.set(team.id, team);
  world.changed('team', team.id, 'created');
  for (const member of wish.members ?? []) addMember(world, team, member);
  return team;
}

export function addMember(world: World, team: Team, user: User): void {
  team.members.add(user.id);
  for (const repo of world.repos.values()) {
    if (repo.ownerId === team.orgId && (team.includesAllRepositories || team.repos.has(repo.id))) repo.watchers.add(user.id);
  }
}

/** A token with 40 hex digits. */
export function makeToken(world: World, user: User, name: string, scopes: readonly string[]): Token {
  const token: Token = {
    id: world.nextId('token'),
    userId: user.id,
    name,
    scopes: [...scopes],
    value: randomBytes(20).toString('hex'),
    createdAt: world.now(),
    lastUsedAt: world.now(),
  };
  world.tokens.set(token.id, token);
  world.changed('token', token.id, 'created');
  return token;
}

export interface PackageWish {
  ownerId: Id;
  creator: User;
  type: string;
  name: string;
  version: string;
  fileName: string;
  content: Buffer;
  repoId?: Id;
}

/** Uploads a file; the first of a version makes the version. */
export function uploadPackage(world: World, wish: PackageWish): PackageVersion {
  const sameAs = (one: PackageVersion) => one.ownerId === wish.ownerId && one.type === wish.type && one.name === wish.name;
  const siblings = [...world.packages.values()].filter(sameAs);
  const known = siblings.find((one) => one.version === wish.version);
  const version: PackageVersion = known ?? {
    id: world.nextId('package'),
    ownerId: wish.ownerId,
    creatorId: wish.creator.id,
    repoId: wish.repoId ?? siblings[0]?.repoId ?? null,
    type: wish.type,
    name: wish.name,
    version: wish.version,
    createdAt: world.now(),
    files: [],
  };
  version.files.push({ id: world.nextId('asset'), name: wish.fileName, content: wish.content });
  if (known) return known;
  world.packages.set(version.id, version);
  world.changed('package', version.id, 'created');
  world.happened(wish.creator, { kind: 'package.created', package: version });
  return version;
}
