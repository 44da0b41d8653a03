import type { Answer } from '../answer.js';
import { created, forbidden, noContent, notFound, ok } from '../answer.js';
import type { OwnerCall } from '../guards.js';
import { doer, isPublicOnly, onOwner } from '../guards.js';
import type { Handler } from '../handler.js';
import { listed } from '../paging.js';
import { canSeeOwner, isOrgOwner, teamsOf } from '../permissions.js';
import type { Handlers } from '../registry.js';
import { renderPackage, renderPackageFile } from '../render/package.js';
import type { Mode, PackageVersion } from '../world.js';
import { atLeast, higherOf } from '../world.js';

/** What the caller may do with an owner's packages: owners everything, teams by their unit, others read what they can see. */
function packageMode(call: OwnerCall): Mode {
  const { world, owner } = call;
  const { user } = call.caller;
  if (!user) return canSeeOwner(world, null, owner) ? 'read' : 'none';
  if (user.isAdmin || user.id === owner.id) return 'owner';
  const seen: Mode = canSeeOwner(world, user, owner) ? 'read' : 'none';
  if (owner.kind === 'user') return seen;
  if (isOrgOwner(world, user, owner)) return 'owner';
  return teamsOf(world, owner.id, user.id).reduce<Mode>((so, team) => higherOf(so, team.units.get('repo.packages') ?? 'none'), seen);
}

function onPackages(level: 'read' | 'write', run: (call: OwnerCall) => Answer): Handler {
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
  const found = packagesOf(call).find((one) => one.type === type && same(one.name, name) && same(one.version, version));
  if (!found) throw notFound('GetVersionByNameAndVersion: package does not exist');
  return found;
}

export const packageHandlers: Handlers = {
  /** Op 9. */
  getPackage: onPackages('read', (call) => ok(renderPackage(call.view, find(call)))),

  listPackages: onPackages('read', (call) => {
    const [type, part] = [call.query.get('type') ?? '', (call.query.get('q') ?? '').toLowerCase()];
    const wanted = packagesOf(call).filter((one) => (type === '' || one.type === type) && one.name.toLowerCase().includes(part));
    const newestFirst = wanted.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    return listed(call, newestFirst, (one) => renderPackage(call.view, one), { link: true });
  }),

  listPackageFiles: onPackages('read', (call) => ok(find(call).files.map((file) => renderPackageFile(call.view, file)))),

  deletePackage: onPackages('write', (call) => {
    const found = find(call);
    call.world.packages.delete(found.id);
    call.world.changed('package', found.id, 'deleted');
    call.world.happened(doer(call), { kind: 'package.deleted', package: found });
    return noContent();
  }),

  /** Links every version of a package to a repository of the same owner. */
  linkPackage: onPackages('write', (call) => {
    const { type, name = '', repo_name: repoName = '' } = call.params;
    const versions = packagesOf(call).filter((one) => one.type === type && one.name.toLowerCase() === name.toLowerCase());
    const repo = call.world.repoByName(call.owner.id, repoName);
    if (versions.length === 0 || !repo) throw notFound();
    for (const version of versions) {
      version.repoId = repo.id;
      call.world.changed('package', version.id, 'updated');
    }
    return created();
  }),
};
