import { archived as archivedRefusal, forbidden, notFound, unauthorized } from './answer.js';
import { isEmpty } from './git/store.js';
import type { Call, Given, Handler } from './handler.js';
import {
  canRead,
  canSee,
  canSeeOwner,
  canWrite,
  isOrgMember,
  isOrgOwner,
  isRepoAdmin,
  isUnitOn,
  type Permission,
  permissionOn,
} from './permissions.js';
import { movedOwner, movedRepository } from './redirects.js';
import { atLeast, type Id, type Organization, type Owner, type Repository, type Unit, type User } from './world.js';

export interface UserCall extends Call {
  user: User;
}
export interface OrgCall extends Call {
  org: Organization;
}
export interface OwnerCall extends Call {
  owner: Owner;
}
export interface RepoCall extends Call {
  repo: Repository;
  permission: Permission;
}

type Run<C extends Call> = (call: C) => Given | Promise<Given>;

export interface RepoAccess {
  /** Any one of these units is enough; whoever administrates the repository needs none. */
  units?: readonly Unit[];
  /** What there is only for who may read one of these units: without, even an administrator gets 404. */
  part?: 'tracker' | 'pulls';
  /** Default `read`; `admin` and `owner` ask for the repository as a whole. */
  level?: 'read' | 'write' | 'admin' | 'owner';
  /** 401 for nobody. Default: for every level above `read`. */
  login?: boolean;
  /** Push mirror routes ask for the role first: nobody gets 403 there. */
  roleBeforeLogin?: boolean;
  /** 423 when archived. Default: no. */
  notArchived?: boolean;
}

/** Issues or pull requests: either unit will do. */
export const TRACKER: readonly Unit[] = ['repo.issues', 'repo.pulls'];
const PARTS = { tracker: TRACKER, pulls: ['repo.pulls'] } as const satisfies Record<string, readonly Unit[]>;
/** Pull requests: whoever may not read the code is refused. */
export const PULLS = { part: 'pulls', units: ['repo.code'] } as const satisfies RepoAccess;

/** The acting user; only behind a guard that asked for a login. */
export function doer(call: Call): User {
  if (!call.caller.user) throw unauthorized();
  return call.caller.user;
}

/** For a logged-in caller. `noPublicOnly`: refused outright to public-only tokens. */
export function forUser(run: Run<UserCall>, options: { noPublicOnly?: boolean } = {}): Handler {
  return (call) => {
    const user = doer(call);
    if (options.noPublicOnly && isPublicOnly(call) && call.profile.access.publicOnlySettings === 'refused')
      throw forbidden('this endpoint is not available for public-only tokens');
    return run({ ...call, user });
  };
}

/** Around another guard: logged in and a site admin. */
export function siteAdminOnly(next: Handler): Handler {
  return (call) => {
    if (!doer(call).isAdmin) throw forbidden('user should be the site admin');
    return next(call);
  };
}

export function isPublicOnly(call: Call): boolean {
  return call.caller.token?.scopes.includes('public-only') ?? false;
}

function refusePublicOnly(call: Call): never {
  throw call.profile.access.publicOnly === 404 ? notFound() : forbidden('token scope is limited to public repos');
}

/** A user or organization by its name in the path; 307 when renamed. */
export function onOwner(run: Run<OwnerCall>, parameter = 'username'): Handler {
  return (call) => {
    const name = call.params[parameter] ?? '';
    const owner = call.world.ownerByName(name) ?? movedOwner(call, name);
    if (!owner) throw notFound(`user redirect does not exist [name: ${name}]`);
    return run({ ...call, owner });
  };
}

/** An organization by the name in the path. Levels: `visible` (default), `member`, `owner`. */
export function onOrganization(
  level: 'visible' | 'member' | 'owner',
  run: Run<OrgCall>,
  login = level !== 'visible',
): Handler {
  return (call) => {
    const name = call.params.org ?? '';
    const owner = call.world.ownerByName(name) ?? movedOwner(call, name);
    const { world, caller } = call;
    if (owner?.kind !== 'organization' || !canSeeOwner(world, caller.user, owner)) throw notFound();
    if (isPublicOnly(call) && owner.visibility !== 'public') refusePublicOnly(call);
    if (login && !caller.user) throw unauthorized();
    if (level === 'owner' && !isOrgOwner(world, caller.user, owner)) throw forbidden('Must be an organization owner');
    if (level === 'member' && !isOrgMember(world, caller.user, owner))
      throw forbidden('Must be an organization member');
    return run({ ...call, org: owner });
  };
}

/** A repository by `{owner}/{repo}`: seen, public-only, login, role, archived, in that order. */
export function onRepository(access: RepoAccess, run: Run<RepoCall>): Handler {
  return (call) => {
    const { repo, permission } = findRepository(call);
    const wantsLogin = access.login ?? (access.level !== undefined && access.level !== 'read');
    const askLogin = () => {
      if (wantsLogin && !call.caller.user) throw unauthorized();
    };
    if (access.part && !hasPart(repo, permission, access.part)) throw notFound();
    if (!access.roleBeforeLogin) askLogin();
    askRole(call, repo, permission, access);
    askLogin();
    if (access.notArchived && repo.archivedAt !== 0) throw archivedRefusal();
    return run({ ...call, repo, permission });
  };
}

/** Finds what `{owner}/{repo}` names, follows renames (301, 307), hides what the caller may not see (404). */
export function findRepository(call: Call): { repo: Repository; permission: Permission } {
  const { world, caller, params } = call;
  const owner = world.ownerByName(params.owner ?? '') ?? movedOwner(call, params.owner ?? '');
  if (!owner) throw notFound();
  const name = (params.repo ?? '').replace(/\.git$/, '');
  const repo = world.repoByName(owner.id, name) ?? movedRepository(call, owner, name);
  if (!repo) throw notFound();
  const permission = permissionOn(world, caller.user, repo);
  if (!canSee(permission)) throw notFound();
  if (isPublicOnly(call) && (repo.private || world.ownerOf(repo).visibility !== 'public')) refusePublicOnly(call);
  return { repo, permission };
}

/** A repository without commits, or a mirror, has no pull requests. */
function hasPart(repo: Repository, permission: Permission, part: keyof typeof PARTS): boolean {
  const canHavePulls = !repo.mirror && !isEmpty(repo.git);
  return PARTS[part].some((unit) => canRead(permission, unit) && (unit !== 'repo.pulls' || canHavePulls));
}

function askRole(call: Call, repo: Repository, permission: Permission, access: RepoAccess): void {
  const { units = [], level = 'read' } = access;
  if (units.length > 0 && call.profile.access.unitOff === 404 && !units.some((unit) => isUnitOn(repo, unit)))
    throw notFound();
  if ((level === 'read' || level === 'write') && isRepoAdmin(permission)) return;
  switch (level) {
    case 'owner':
      if (!atLeast(permission.mode, 'owner')) throw forbidden('user should be the owner of the repo');
      return;
    case 'admin':
      if (!isRepoAdmin(permission))
        throw forbidden('user should be an owner or a collaborator with admin write of a repository');
      return;
    case 'write':
      if (!units.some((unit) => canWrite(permission, unit)))
        throw forbidden('user should have a permission to write to a repo');
      return;
    case 'read':
      if (units.length > 0 && !units.some((unit) => canRead(permission, unit)))
        throw forbidden('user should have specific read permission or be a repo admin or a site admin');
  }
}

/**
 * An id or number of the path.
 * @throws Refusal 404 when it is none
 */
export function readId(text: string | undefined): Id {
  if (text === undefined || !/^\d{1,19}$/.test(text)) throw notFound();
  return BigInt(text);
}
