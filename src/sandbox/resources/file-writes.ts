import type { Answer } from '../answer.js';
import { created, forbidden, notFound, ok, Refusal, unprocessable } from '../answer.js';
import type { Bound } from '../body.js';
import { bind, field } from '../body.js';
import { isRefName } from '../git/ref-name.js';
import { isEmpty, resolveRef } from '../git/store.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import type { CommitWish } from '../make/git.js';
import { pushToBranch } from '../make/git.js';
import { branchRights, protectionOf } from '../protection.js';
import type { Handlers } from '../registry.js';
import { NOT_SIGNED } from '../render/branch.js';
import { cleanPath, renderContents } from '../render/contents.js';
import { renderFileCommit } from '../render/commit.js';

const live = { units: ['repo.code'], level: 'write', notArchived: true } as const;

const shared = { message: field.text(), branch: field.text({ max: 100 }), new_branch: field.text({ max: 100 }) };
const newFields = { ...shared, content: field.text() };
const changeFields = { ...shared, content: field.text(), sha: field.text({ required: true, label: 'SHA' }), from_path: field.text({ max: 500 }) };
const endFields = { ...shared, sha: field.text({ required: true, label: 'SHA' }) };

type Where = Bound<typeof shared>;

function pathOf(call: RepoCall): string {
  const path = cleanPath(call.params.filepath ?? '');
  if (path === undefined || path === '' || path.split('/').includes('.git'))
    throw unprocessable(`path contains a malformed path component [path: ${call.params.filepath ?? ''}]`);
  return path;
}

function bytesOf(content = ''): Buffer {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(content)) throw unprocessable('illegal base64 data');
  return Buffer.from(content, 'base64');
}

/** What lies on the branch that is written to; null in an empty repository. */
function filesOn(call: RepoCall, where: Where): ReadonlyMap<string, string> | null {
  const { repo } = call;
  if (isEmpty(repo.git)) return null;
  const branch = where.branch || repo.defaultBranch;
  const found = resolveRef(repo.git, `refs/heads/${branch}`);
  if (!found) throw notFound(`branch does not exist [name: ${branch}]`);
  return found.commit.files;
}

/** Commits to the branch, or to a new one that starts there. */
function commit(call: RepoCall, where: Where, wish: CommitWish): { ref: string } {
  const { repo, world } = call;
  const from = where.branch || repo.defaultBranch;
  const branch = where.new_branch || from;
  if (branch !== from && repo.git.branches.has(branch)) throw unprocessable(`branch already exists [name: ${branch}]`);
  if (!isRefName(branch)) throw unprocessable(`branch name is not valid [name: ${branch}]`);
  const protection = protectionOf(world, repo, branch);
  if (protection && !branchRights(world, call.caller.user, call.permission, protection).push) throw forbidden(`branch ${branch} is protected from changes`);
  pushToBranch(world, doer(call), repo, branch, [wish], from);
  return { ref: branch };
}

function answer(call: RepoCall, branch: string, path: string | null): object {
  const ref = resolveRef(call.repo.git, `refs/heads/${branch}`);
  if (!ref) throw new Error(`no branch ${branch} after a commit to it`);
  return {
    content: path === null ? null : (renderContents(call.view, call.repo, ref, path, true) ?? null),
    commit: renderFileCommit(call.view, call.repo, ref.commit),
    verification: NOT_SIGNED,
  };
}

function create(call: RepoCall): Answer {
  const path = pathOf(call);
  const wish = bind(call, newFields);
  if (filesOn(call, wish)?.has(path)) throw unprocessable(`repository file already exists [path: ${path}]`);
  const { ref } = commit(call, wish, { message: wish.message || `Add ${path}`, files: { [path]: bytesOf(wish.content) } });
  return created(answer(call, ref, path));
}

/** The present blob must be the one that the caller saw. */
function checkSeen(call: RepoCall, where: Where, path: string, seen: string | undefined, status: 400 | 422): void {
  const blob = filesOn(call, where)?.get(path);
  if (blob === undefined) throw notFound(`repository file does not exist [path: ${path}]`);
  if (blob !== seen) throw new Refusal(status, `sha does not match [given: ${seen ?? ''}, expected: ${blob}]`);
}

function change(call: RepoCall): Answer {
  const path = pathOf(call);
  const wish = bind(call, changeFields);
  const from = wish.from_path || path;
  checkSeen(call, wish, from, wish.sha, 422);
  const removed = from === path ? [] : [from];
  const { ref } = commit(call, wish, { message: wish.message || `Update ${path}`, files: { [path]: bytesOf(wish.content) }, removed });
  return ok(answer(call, ref, path));
}

function remove(call: RepoCall): Answer {
  const path = pathOf(call);
  const wish = bind(call, endFields);
  checkSeen(call, wish, path, wish.sha, 400);
  const { ref } = commit(call, wish, { message: wish.message || `Delete ${path}`, removed: [path] });
  return ok(answer(call, ref, null));
}

/** One commit to one file, in the caller's name. */
export const fileWriteHandlers: Handlers = {
  createFile: onRepository(live, create),
  updateFile: onRepository(live, change),
  deleteFile: onRepository(live, remove),
};
