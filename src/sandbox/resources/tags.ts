import { conflict, created, noContent, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { isRefName } from '../git/ref-name.js';
import { resolveRef } from '../git/store.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import { createTag, deleteTag } from '../make/git.js';
import { releaseByTag } from '../make/release.js';
import { listed } from '../paging.js';
import type { Handlers } from '../registry.js';
import { renderTag } from '../render/tag.js';
import type { Tag } from '../world.js';

const read = { units: ['repo.code'] } as const;
const write = { ...read, level: 'write', notArchived: true } as const;

function tagOf(call: RepoCall): Tag {
  const tag = call.repo.git.tags.get(call.params.tag ?? '');
  if (!tag) throw notFound();
  return tag;
}

/** By the time of the commit or, of annotated ones, of the tag. */
function newestFirst({ repo }: RepoCall): Tag[] {
  const at = (tag: Tag): number => (tag.message === '' ? (repo.git.commits.get(tag.sha)?.committer.at ?? 0) : tag.createdAt);
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
  listTags: onRepository(read, (call) => listed(call, newestFirst(call), (tag) => renderTag(call.view, call.repo, tag))),
  getTag: onRepository(read, (call) => ok(renderTag(call.view, call.repo, tagOf(call)))),
  createTag: onRepository(write, (call) => created(renderTag(call.view, call.repo, make(call)))),
  deleteTag: onRepository(write, (call) => {
    const tag = tagOf(call);
    if (releaseByTag(call.world, call.repo, tag.name)) throw conflict('a tag attached to a release cannot be deleted directly');
    deleteTag(call.world, doer(call), call.repo, tag.name);
    return noContent();
  }),
};
