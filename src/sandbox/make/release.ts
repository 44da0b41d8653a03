import { resolveRef } from '../git/store.js';
import type { Release, Repository, User, World } from '../world.js';
import { createTag } from './git.js';

export interface ReleaseWish {
  tagName: string;
  target: string;
  title: string;
  note: string;
  isDraft: boolean;
  isPrerelease: boolean;
  hidesArchives?: boolean;
}

/** Newest first. */
export function releasesOf(world: World, repo: Repository): Release[] {
  return [...world.releases.values()]
    .filter((release) => release.repoId === repo.id && !release.isTag)
    .sort((a, b) => b.createdAt - a.createdAt || Number(b.id - a.id));
}

/** Drafts too; tags are found without regard to case. */
export function releaseByTag(world: World, repo: Repository, tagName: string): Release | undefined {
  return releasesOf(world, repo).find((release) => release.tagName.toLowerCase() === tagName.toLowerCase());
}

/** The target of a release has no commit: 404 or 500, by who asks. */
export class UnknownTarget extends Error {}

/** Publishing makes the tag when it is not there. A draft makes none and tells nobody. */
export function makeRelease(world: World, by: User, repo: Repository, wish: ReleaseWish): Release {
  const isNewTag = !wish.isDraft && !repo.git.tags.has(wish.tagName);
  const sha = isNewTag ? targetCommit(repo, wish.target) : '';
  const release: Release = {
    id: world.nextId('release'),
    repoId: repo.id,
    hidesArchives: false,
    ...wish,
    isTag: false,
    authorId: by.id,
    createdAt: world.now(),
    assets: [],
  };
  world.releases.set(release.id, release);
  world.changed('release', release.id, 'created');
  if (isNewTag) createTag(world, by, repo, wish.tagName, sha);
  if (!wish.isDraft) world.happened(by, { kind: 'release.published', repo, release });
  return release;
}

/**
 * Writes the wish. It counts as published only when that made the tag; a draft whose tag was there already counts as updated.
 * @throws UnknownTarget before anything is changed
 */
export function changeRelease(world: World, by: User, repo: Repository, release: Release, wish: ReleaseWish): void {
  const isNewTag = !wish.isDraft && !repo.git.tags.has(wish.tagName);
  const sha = isNewTag ? targetCommit(repo, wish.target) : '';
  Object.assign(release, wish);
  world.changed('release', release.id, 'updated');
  if (isNewTag) createTag(world, by, repo, wish.tagName, sha);
  if (!wish.isDraft) world.happened(by, { kind: isNewTag ? 'release.published' : 'release.updated', repo, release });
}

/** The tag stays. */
export function deleteRelease(world: World, by: User, repo: Repository, release: Release): void {
  world.releases.delete(release.id);
  world.changed('release', release.id, 'deleted');
  if (!release.isDraft) world.happened(by, { kind: 'release.deleted', repo, release });
}

function targetCommit(repo: Repository, target: string): string {
  const found = resolveRef(repo.git, target);
  if (!found) throw new UnknownTarget(`no commit for ${target}`);
  return found.commit.sha;
}
