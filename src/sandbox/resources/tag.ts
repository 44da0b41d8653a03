import type { tag as apiTag } from '../../core/objects/git.js';
import { conflict, created, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { tagId } from '../git/objects.js';
import { isRefName } from '../git/ref-name.js';
import { resolveRef } from '../git/store.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { NEVER, shaped, type View, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import type { Handlers } from '../handler.js';
import type { Repository, User, World } from '../world.js';
import { commitTime } from './commit.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import type { Release, Tag } from '../entities/repository.js';

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

/** @param message of an annotated tag; empty for a light one */
export function createTag(world: World, by: User, repo: Repository, name: string, sha: string, message = ''): void {
  repo.git.tags.set(name, { name, sha, message, createdAt: world.now() });
  world.changed('tag', `${repo.id}/${name}`, 'created');
  world.happened(by, { kind: 'tag.created', repo, ref: `refs/tags/${name}`, sha });
}

export function deleteTag(world: World, by: User, repo: Repository, name: string): void {
  const tag = repo.git.tags.get(name);
  if (!tag) return;
  repo.git.tags.delete(name);
  world.changed('tag', `${repo.id}/${name}`, 'deleted');
  world.happened(by, { kind: 'tag.deleted', repo, ref: `refs/tags/${name}`, sha: tag.sha });
}

/** An annotated tag has an id and a message of its own, which its commit's address uses too; a light one has those of its commit. */
function renderTag(view: View, repo: Repository, tag: Tag): Shown<typeof apiTag> {
  const commit = repo.git.commits.get(tag.sha);
  const isLight = tag.message === '' || !commit;
  const id = isLight ? tag.sha : tagId(tag, { ...commit.committer, at: tag.createdAt });
  const message = (isLight ? (commit?.message ?? '') : tag.message).trimEnd();
  const name = tag.name.split('/').map(encodeURIComponent).join('/');
  return shaped(view, 'tag', {
    name: tag.name,
    message: view.profile.repositories.tagMessage === 'with its last newline' ? `${message}\n` : message,
    id,
    commit: {
      url: repoApiUrl(view, repo, `/git/commits/${id}`),
      sha: tag.sha,
      created: commit ? commitTime(commit.committer) : NEVER,
    },
    zipball_url: repoWebUrl(view, repo, `/archive/${name}.zip`),
    tarball_url: repoWebUrl(view, repo, `/archive/${name}.tar.gz`),
    archive_download_count: { zip: 0, tar_gz: 0 },
  });
}

const read = { units: ['repo.code'] } as const;
const write = { ...read, level: 'write', notArchived: true } as const;

function tagOf(call: RepoCall): Tag {
  const tag = call.repo.git.tags.get(call.params.tag ?? '');
  if (!tag) throw notFound();
  return tag;
}

/** By the time of the commit or, of annotated ones, of the tag. */
function newestFirst({ repo }: RepoCall): Tag[] {
  const at = (tag: Tag): number =>
    tag.message === '' ? (repo.git.commits.get(tag.sha)?.committer.at ?? 0) : tag.createdAt;
  return [...repo.git.tags.values()].sort((a, b) => at(b) - at(a) || (a.name < b.name ? 1 : -1));
}

function make(call: RepoCall): Tag {
  const { repo } = call;
  const wish = bind(call, { tag_name: field.text({ required: true }), message: field.text(), target: field.text() });
  const name = wish.tag_name ?? '';
  if (repo.git.tags.has(name)) throw conflict('tag exists');
  if (!isRefName(name)) throw unprocessable(`tag name is not valid: ${name}`);
  const target = resolveRef(repo.git, wish.target || repo.defaultBranch);
  if (!target) throw notFound('target not found');
  createTag(call.world, doer(call), repo, name, target.commit.sha, wish.message ?? '');
  return repo.git.tags.get(name) as Tag;
}

export const tagHandlers: Handlers = {
  listTags: onRepository(read, (call) =>
    listed(call, newestFirst(call), (tag) => renderTag(call.view, call.repo, tag)),
  ),
  getTag: onRepository(read, (call) => ok(renderTag(call.view, call.repo, tagOf(call)))),
  createTag: onRepository(write, (call) => created(renderTag(call.view, call.repo, make(call)))),
  deleteTag: onRepository(write, (call) => {
    const tag = tagOf(call);
    if (releaseByTag(call.world, call.repo, tag.name))
      throw conflict('a tag attached to a release cannot be deleted directly');
    deleteTag(call.world, doer(call), call.repo, tag.name);
  }),
};
