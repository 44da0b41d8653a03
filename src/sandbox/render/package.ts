import { createHash } from 'node:crypto';
import { canSee, permissionOn } from '../permissions.js';
import type { PackageFile, PackageVersion } from '../world.js';
import { renderRepository } from './repository.js';
import { shaped } from './shape.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { shownTime, webUrl } from './view.js';

/** A package as the API shows it; the repository only to those who may see it. */
export function renderPackage(view: View, one: PackageVersion): object {
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

export function renderPackageFile(view: View, file: PackageFile): object {
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
