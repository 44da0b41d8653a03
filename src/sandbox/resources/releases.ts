import { conflict, created, noContent, notFound, ok, serverError, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { isEmpty } from '../git/store.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import { changeRelease, deleteRelease, makeRelease, releaseByTag, releasesOf, UnknownTarget } from '../make/release.js';
import { listed } from '../paging.js';
import { canWrite } from '../permissions.js';
import { readId } from '../read-id.js';
import type { Handlers } from '../registry.js';
import { renderRelease } from '../render/release.js';
import type { Release } from '../world.js';

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
  const found = visible(call).find((release) => release.id === id);
  if (!found) throw notFound();
  return found;
}

/** Unparsable values count as not asked for. */
function flagOf(call: RepoCall, name: string): boolean | undefined {
  const text = (call.query.get(name) ?? '').toLowerCase();
  if (['1', 't', 'true'].includes(text)) return true;
  return ['0', 'f', 'false'].includes(text) ? false : undefined;
}

function wantedOf(call: RepoCall): Release[] {
  const [draft, prerelease] = [flagOf(call, 'draft'), flagOf(call, 'pre-release')];
  return visible(call).filter((one) => (draft ?? one.isDraft) === one.isDraft && (prerelease ?? one.isPrerelease) === one.isPrerelease);
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
  listReleases: onRepository(read, (call) => listed(call, wantedOf(call), (release) => renderRelease(call.view, release), { link: true })),
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
  deleteRelease: onRepository(write, (call) => {
    deleteRelease(call.world, doer(call), call.repo, releaseOf(call));
    return noContent();
  }),
};
