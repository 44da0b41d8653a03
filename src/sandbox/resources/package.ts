import type {
  packageVersion as apiPackageVersion,
  packageFile as apiPackageFile,
} from '../../core/objects/publishing.js';
import { createHash } from 'node:crypto';
import { created, forbidden, notFound, ok } from '../answer.js';
import { doer, isPublicOnly, onOwner, type OwnerCall } from '../guards.js';
import { shaped, shownTime, type View, webUrl, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import { canSee, canSeeOwner, isOrgOwner, permissionOn, teamsOf } from '../permissions.js';
import type { Given, Handler, Handlers } from '../handler.js';
import { atLeast, higherOf, type Id, type Mode, type User, type World } from '../world.js';
import { renderRepository } from './repository.js';
import type { PackageVersion, PackageFile } from '../entities/people.js';
import { renderUser } from './owner-view.js';

interface PackageWish extends Pick<PackageVersion, 'ownerId' | 'type' | 'name' | 'version'> {
  creator: User;
  fileName: string;
  content: Buffer;
  repoId?: Id;
}

/** Uploads a file; the first of a version makes the version. */
export function uploadPackage(world: World, wish: PackageWish): PackageVersion {
  const sameAs = (one: PackageVersion) =>
    one.ownerId === wish.ownerId && one.type === wish.type && one.name === wish.name;
  const siblings = [...world.packages.values()].filter(sameAs);
  const sameVersion = siblings.find((one) => one.version === wish.version);
  const version: PackageVersion = sameVersion ?? {
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
  if (sameVersion) return sameVersion;
  world.add('package', world.packages, version);
  world.happened(wish.creator, { kind: 'package.created', package: version });
  return version;
}

/** A package as the API shows it; the repository only to those who may see it. */
export function renderPackage(view: View, one: PackageVersion): Shown<typeof apiPackageVersion> {
  const { world, viewer } = view;
  const owner = world.owner(one.ownerId);
  const repo = one.repoId === null ? undefined : world.repos.get(one.repoId);
  const permission = repo && permissionOn(world, viewer, repo);
  return {
    id: one.id,
    owner: renderUser(view, owner),
    repository: repo && permission && canSee(permission) ? renderRepository(view, repo, permission) : null,
    creator: renderUser(view, world.user(one.creatorId)),
    type: one.type,
    name: one.name,
    version: one.version,
    html_url: webUrl(view, `/${owner.login}/-/packages/${one.type}/${one.name}/${one.version}`),
    created_at: shownTime(view, one.createdAt),
  };
}

function renderPackageFile(view: View, file: PackageFile): Shown<typeof apiPackageFile> {
  const digest = (kind: string) => createHash(kind).update(file.content).digest('hex');
  return shaped(view, 'package file', {
    id: file.id,
    size: file.content.length,
    name: file.name,
    md5: digest('md5'),
    sha1: digest('sha1'),
    sha256: digest('sha256'),
    sha512: digest('sha512'),
  });
}

/** What the caller may do with an owner's packages: owners everything, teams by their unit, others read what they can see. */
function packageMode(call: OwnerCall): Mode {
  const { world, owner } = call;
  const { user } = call.caller;
  if (!user) return canSeeOwner(world, null, owner) ? 'read' : 'none';
  if (user.isAdmin || user.id === owner.id) return 'owner';
  const seen: Mode = canSeeOwner(world, user, owner) ? 'read' : 'none';
  if (owner.kind === 'user') return seen;
  if (isOrgOwner(world, user, owner)) return 'owner';
  return teamsOf(world, owner.id, user.id).reduce<Mode>(
    (so, team) => higherOf(so, team.units.get('repo.packages') ?? 'none'),
    seen,
  );
}

function onPackages(level: 'read' | 'write', run: (call: OwnerCall) => Given): Handler {
  const guarded = onOwner((call) => {
    if (isPublicOnly(call) && call.owner.visibility !== 'public') throw notFound();
    if (!atLeast(packageMode(call), level)) throw forbidden('user should have specific permission or be a site admin');
    return run(call);
  }, 'owner');
  return (call) => {
    if (level === 'write' || !call.profile.access.packagesOpen) doer(call);
    return guarded(call);
  };
}

function packagesOf(call: OwnerCall): PackageVersion[] {
  return [...call.world.packages.values()].filter((one) => one.ownerId === call.owner.id);
}

function find(call: OwnerCall): PackageVersion {
  const { type, name, version } = call.params;
  const same = (a: string, b = '') => a.toLowerCase() === b.toLowerCase();
  const match = packagesOf(call).find((one) => one.type === type && same(one.name, name) && same(one.version, version));
  if (!match) throw notFound('GetVersionByNameAndVersion: package does not exist');
  return match;
}

export const packageHandlers: Handlers = {
  /** Op 9. */
  getPackage: onPackages('read', (call) => ok(renderPackage(call.view, find(call)))),

  listPackages: onPackages('read', (call) => {
    const [type, part] = [call.query.get('type') ?? '', (call.query.get('q') ?? '').toLowerCase()];
    const wanted = packagesOf(call).filter(
      (one) => (type === '' || one.type === type) && one.name.toLowerCase().includes(part),
    );
    const newestFirst = wanted.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    return listed(call, newestFirst, (one) => renderPackage(call.view, one), { link: true });
  }),

  listPackageFiles: onPackages('read', (call) =>
    ok(find(call).files.map((file) => renderPackageFile(call.view, file))),
  ),

  deletePackage: onPackages('write', (call) => {
    const version = find(call);
    call.world.remove('package', call.world.packages, version);
    call.world.happened(doer(call), { kind: 'package.deleted', package: version });
  }),

  /** Links every version of a package to a repository of the same owner. */
  linkPackage: onPackages('write', (call) => {
    const { type, name = '', repo_name: repoName = '' } = call.params;
    const versions = packagesOf(call).filter(
      (one) => one.type === type && one.name.toLowerCase() === name.toLowerCase(),
    );
    const repo = call.world.repoByName(call.owner.id, repoName);
    if (versions.length === 0 || !repo) throw notFound();
    for (const version of versions) {
      version.repoId = repo.id;
      call.world.changed('package', version.id, 'updated');
    }
    return created();
  }),
};
