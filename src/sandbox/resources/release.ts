import type { release as apiRelease } from '../../core/objects/publishing.js';
import type { attachment } from '../../core/objects/tracker.js';
import { conflict, created, notFound, ok, serverError, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { isEmpty, resolveRef } from '../git/store.js';
import { doer, onRepository, readId, type RepoCall } from '../guards.js';
import { shaped, shownTime, type Shown, type View } from '../render/view.js';
import { listed } from '../paging.js';
import { canWrite } from '../permissions.js';
import type { Handlers } from '../handler.js';
import type { Repository, User, World } from '../world.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import { createTag, releasesOf, releaseByTag } from './tag.js';
import type { Release, Asset } from '../entities/repository.js';
import { renderUser } from './owner-view.js';

type ReleaseWish = Pick<Release, 'tagName' | 'target' | 'title' | 'note' | 'isDraft' | 'isPrerelease'> &
  Partial<Pick<Release, 'hidesArchives'>>;

/** The target of a release has no commit: 404 or 500, by who asks. */
class UnknownTarget extends Error {}

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
  world.add('release', world.releases, release);
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
function deleteRelease(world: World, by: User, repo: Repository, release: Release): void {
  world.remove('release', world.releases, release);
  if (!release.isDraft) world.happened(by, { kind: 'release.deleted', repo, release });
}

function targetCommit(repo: Repository, target: string): string {
  const resolved = resolveRef(repo.git, target);
  if (!resolved) throw new UnknownTarget(`no commit for ${target}`);
  return resolved.commit.sha;
}

export function renderRelease(view: View, release: Release): Shown<typeof apiRelease> {
  const repo = view.world.repo(release.repoId);
  const tag = release.tagName.split('/').map(encodeURIComponent).join('/');
  const url = repoApiUrl(view, repo, `/releases/${release.id}`);
  return shaped(view, 'release', {
    id: release.id,
    tag_name: release.tagName,
    target_commitish: release.target,
    name: release.title,
    body: release.note,
    url,
    html_url: repoWebUrl(view, repo, `/releases/tag/${tag}`),
    tarball_url: repoWebUrl(view, repo, `/archive/${tag}.tar.gz`),
    zipball_url: repoWebUrl(view, repo, `/archive/${tag}.zip`),
    hide_archive_links: release.hidesArchives,
    upload_url: `${url}/assets`,
    draft: release.isDraft,
    prerelease: release.isPrerelease,
    created_at: shownTime(view, release.createdAt),
    published_at: shownTime(view, release.createdAt),
    author: renderUser(view, view.world.owner(release.authorId), { asOther: true }),
    assets: release.assets.map((asset) => renderAsset(view, asset)),
    archive_download_count: { zip: 0, tar_gz: 0 },
  });
}

export function renderAsset(view: View, asset: Asset): Shown<typeof attachment> {
  return {
    id: asset.id,
    name: asset.name,
    size: asset.size,
    download_count: asset.downloadCount,
    created_at: shownTime(view, asset.createdAt),
    uuid: asset.uuid,
    browser_download_url: `${view.baseUrl}/attachments/${asset.uuid}`,
  };
}

const read = { units: ['repo.releases'] } as const;
const write = { ...read, level: 'write' } as const;

const shared = {
  target_commitish: field.text(),
  name: field.text(),
  body: field.text(),
  draft: field.flag(),
  prerelease: field.flag(),
  hide_archive_links: field.flag(),
};
const wishFields = { tag_name: field.text({ required: true }), ...shared };
const changeFields = { tag_name: field.text(), ...shared };

/** Drafts are there for writers only. */
function visible(call: RepoCall): Release[] {
  const isWriter = canWrite(call.permission, 'repo.releases');
  return releasesOf(call.world, call.repo).filter((release) => isWriter || !release.isDraft);
}

function releaseOf(call: RepoCall): Release {
  const id = readId(call.params.id);
  const release = visible(call).find((release) => release.id === id);
  if (!release) throw notFound();
  return release;
}

/** Unparsable values count as not asked for. */
function flagOf(call: RepoCall, name: string): boolean | undefined {
  const text = (call.query.get(name) ?? '').toLowerCase();
  if (['1', 't', 'true'].includes(text)) return true;
  return ['0', 'f', 'false'].includes(text) ? false : undefined;
}

function wantedOf(call: RepoCall): Release[] {
  const [draft, prerelease] = [flagOf(call, 'draft'), flagOf(call, 'pre-release')];
  return visible(call).filter(
    (one) => (draft ?? one.isDraft) === one.isDraft && (prerelease ?? one.isPrerelease) === one.isPrerelease,
  );
}

function make(call: RepoCall): Release {
  const { world, repo } = call;
  const {
    tag_name = '',
    target_commitish = '',
    name = '',
    body = '',
    draft = false,
    prerelease = false,
    hide_archive_links: hidesArchives = false,
  } = bind(call, wishFields);
  if (isEmpty(repo.git)) throw unprocessable('repo is empty');
  if (releaseByTag(world, repo, tag_name)) throw conflict('Release is has no Tag');
  if (repo.archivedAt !== 0) throw serverError('repository is archived');
  // A tag that exists keeps its place: its release names no target unless one is asked for.
  const target = target_commitish || (repo.git.tags.has(tag_name) ? '' : repo.defaultBranch);
  try {
    return makeRelease(world, doer(call), repo, {
      tagName: tag_name,
      target,
      title: name,
      note: body,
      isDraft: draft,
      isPrerelease: prerelease,
      hidesArchives,
    });
  } catch (error) {
    if (error instanceof UnknownTarget) throw notFound(error.message);
    throw error;
  }
}

/** Empty texts are ignored. A target without a commit and an archived repository are 500, as on a real server. */
function change(call: RepoCall): Release {
  const wish = bind(call, changeFields);
  const release = releaseOf(call);
  if (call.repo.archivedAt !== 0) throw serverError('repository is archived');
  try {
    changeRelease(call.world, doer(call), call.repo, release, {
      tagName: wish.tag_name || release.tagName,
      target: wish.target_commitish || release.target,
      title: wish.name || release.title,
      note: wish.body || release.note,
      isDraft: wish.draft ?? release.isDraft,
      isPrerelease: wish.prerelease ?? release.isPrerelease,
      hidesArchives: wish.hide_archive_links ?? release.hidesArchives,
    });
  } catch (error) {
    if (error instanceof UnknownTarget) throw serverError(error.message);
    throw error;
  }
  return release;
}

export const releaseHandlers: Handlers = {
  createRelease: onRepository(write, (call) => created(renderRelease(call.view, make(call)))),
  listReleases: onRepository(read, (call) =>
    listed(call, wantedOf(call), (release) => renderRelease(call.view, release), { link: true }),
  ),
  getRelease: onRepository(read, (call) => ok(renderRelease(call.view, releaseOf(call)))),
  getReleaseByTag: onRepository(read, (call) => {
    const release = releaseByTag(call.world, call.repo, call.params.tag ?? '');
    if (!release || !visible(call).includes(release)) throw notFound();
    return ok(renderRelease(call.view, release));
  }),
  updateRelease: onRepository(write, (call) => ok(renderRelease(call.view, change(call)))),
  getLatestRelease: onRepository(read, (call) => {
    const latest = releasesOf(call.world, call.repo).find((release) => !release.isDraft && !release.isPrerelease);
    if (!latest) throw notFound();
    return ok(renderRelease(call.view, latest));
  }),
  deleteRelease: onRepository(write, (call) => deleteRelease(call.world, doer(call), call.repo, releaseOf(call))),
};
