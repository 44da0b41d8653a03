import { posix } from 'node:path';
import type { JsonObject } from '../../core/json.js';
import {
  type Answer,
  badRequest,
  created,
  forbidden,
  notFound,
  ok,
  Refusal,
  serverError,
  unprocessable,
} from '../answer.js';
import { bind, type Bound, field } from '../body.js';
import { lastCommitOf } from '../git/history.js';
import { entriesOf, treeId } from '../git/objects.js';
import { applyPatch } from '../git/patch.js';
import { isRefName } from '../git/ref-name.js';
import { isEmpty, type ResolvedRef, resolveRef, signatureOf } from '../git/store.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { shaped, type View } from '../render/view.js';
import { DEFAULT_PAGE_SIZE } from '../paging.js';
import type { Handlers } from '../handler.js';
import type { Repository } from '../world.js';
import { branchRights, protectionOf } from './branch-protection.js';
import { commitTime, type CommitWish, NOT_SIGNED, pushToBranch, renderFileCommit } from './commit.js';
import { repoApiUrl, repoWebUrl } from './repository.js';

/** A blob above this has no content in answers. */
export const MAX_BLOB_BYTES = 10 * 1024 * 1024;
/** Base64 of several files together. */
export const MAX_RESPONSE_BYTES = 100 * 1024 * 1024;

function escaped(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A path below the root without `.`; undefined when it leaves the root. */
function cleanPath(path: string): string | undefined {
  const clean = posix.normalize(path.replace(/^\/+/, '')).replace(/\/$/, '');
  if (clean === '..' || clean.startsWith('../')) return undefined;
  return clean === '.' ? '' : clean;
}

/**
 * One entry (file or folder) of a repository at a ref; undefined when there is none.
 * @param withContent files only; too large ones have none in any case
 */
function renderContents(
  view: View,
  repo: Repository,
  ref: ResolvedRef,
  path: string,
  withContent: boolean,
): { content: string | null } | undefined {
  const { files } = ref.commit;
  const blobId = files.get(path);
  const isFolder = blobId === undefined && [...files.keys()].some((name) => name.startsWith(`${path}/`));
  if (blobId === undefined && !isFolder) return undefined;
  const blob = blobId === undefined ? undefined : repo.git.blobs.get(blobId);
  const isShown = withContent && blob !== undefined && blob.length <= MAX_BLOB_BYTES;
  const sha = blobId ?? treeId(files, path);
  const last = lastCommitOf(repo.git, ref.commit.sha, path) ?? ref.commit;
  const self = `${repoApiUrl(view, repo, `/contents/${escaped(path)}`)}?ref=${encodeURIComponent(ref.name)}`;
  const html = repoWebUrl(view, repo, `/src/${ref.kind}/${escaped(ref.name)}/${escaped(path)}`);
  const git = repoApiUrl(view, repo, `/git/blobs/${sha}`);
  return shaped(view, 'contents', {
    name: posix.basename(path),
    path,
    sha,
    last_commit_sha: last.sha,
    last_committer_date: commitTime(last.committer),
    last_author_date: commitTime(last.author),
    last_commit_when: commitTime(last.committer),
    type: isFolder ? 'dir' : 'file',
    size: blob?.length ?? 0,
    encoding: isShown ? 'base64' : null,
    content: isShown ? blob.toString('base64') : null,
    target: null,
    url: self,
    html_url: html,
    git_url: git,
    download_url: isFolder ? null : repoWebUrl(view, repo, `/raw/${ref.kind}/${escaped(ref.name)}/${escaped(path)}`),
    submodule_git_url: null,
    _links: { self, git, html },
  }) as { content: string | null };
}

/** `ref` of the query: a branch, then a tag, then a commit; absent = the default branch. */
function refOf(call: RepoCall): ResolvedRef {
  const wanted = call.query.get('ref') || call.repo.defaultBranch;
  const ref = resolveRef(call.repo.git, wanted);
  if (!ref) throw notFound(`object does not exist [id: ${wanted}, rel_path: ]`);
  return ref;
}

/** Entries in the order asked for, null for what is not there; short without a word at 30 names or when the contents grow too large. */
function severalFiles(call: RepoCall, names: readonly string[]): Answer {
  const ref = refOf(call);
  const entries: ({ content: string | null } | null)[] = [];
  let size = 0;
  for (const name of names.slice(0, DEFAULT_PAGE_SIZE)) {
    const path = cleanPath(name);
    const entry = path ? (renderContents(call.view, call.repo, ref, path, true) ?? null) : null;
    size += entry?.content?.length ?? 0;
    if (size > MAX_RESPONSE_BYTES) break;
    entries.push(entry);
  }
  return ok(entries);
}

/** The entries of a folder, without contents. */
function folder({ repo, view }: RepoCall, ref: ResolvedRef, path: string): object[] {
  const entries = entriesOf(ref.commit.files, path);
  if (!entries) throw notFound(`object does not exist [id: , rel_path: ${path}]`);
  return entries.map(
    ({ name }) => renderContents(view, repo, ref, path === '' ? name : `${path}/${name}`, false) ?? {},
  );
}

function readNames(call: RepoCall): string[] {
  return bind(call, { files: field.texts({ required: true }) }).files ?? [];
}

/** The GET form has its JSON in the query; whatever is wrong with it is 400. */
function readQueryNames(call: RepoCall): string[] {
  try {
    return readNames({
      ...call,
      method: 'POST',
      bodyText: call.query.get('body') ?? '',
      contentType: 'application/json',
    });
  } catch (error) {
    throw error instanceof Refusal ? badRequest(error.message) : error;
  }
}

export const contentHandlers: Handlers = {
  /** Op 5. Not changing anything, it asks for read only (a token must still have the write scope, by the method). */
  getFiles: onRepository({ units: ['repo.code'] }, (call) => severalFiles(call, readNames(call))),

  getFilesByQuery: onRepository({ units: ['repo.code'] }, (call) => severalFiles(call, readQueryNames(call))),

  /** The entries of the root. */
  listContents: onRepository({ units: ['repo.code'] }, (call) =>
    hasNothing(call) ? ok([]) : ok(folder(call, refOf(call), '')),
  ),

  /** A file with its content, or the entries of a folder without. */
  getContents: onRepository({ units: ['repo.code'] }, (call) => {
    const { view, repo } = call;
    if (hasNothing(call)) return ok([]);
    const ref = refOf(call);
    const path = cleanPath(call.params.filepath ?? '');
    if (path === undefined) throw notFound();
    if (ref.commit.files.has(path)) return ok(renderContents(view, repo, ref, path, true) ?? {});
    return ok(folder(call, ref, path));
  }),
};

function hasNothing({ repo, profile }: RepoCall): boolean {
  return profile.repositories.emptyContents === 'empty list' && isEmpty(repo.git);
}

const live = { units: ['repo.code'], level: 'write', notArchived: true } as const;

const shared = { message: field.text(), branch: field.text({ max: 100 }), new_branch: field.text({ max: 100 }) };
const newFields = { ...shared, content: field.text() };
const changeFields = {
  ...shared,
  content: field.text(),
  sha: field.text({ required: true, label: 'SHA' }),
  from_path: field.text({ max: 500 }),
};
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
  const resolved = resolveRef(repo.git, `refs/heads/${branch}`);
  if (!resolved) throw notFound(`branch does not exist [name: ${branch}]`);
  return resolved.commit.files;
}

/** Commits to the branch, or to a new one that starts there. */
function commit(call: RepoCall, where: Where, wish: CommitWish): { ref: string } {
  const { branch, from } = refuseBranch(call, where);
  pushToBranch(call.world, doer(call), call.repo, branch, [wish], from);
  return { ref: branch };
}

function refuseBranch(call: RepoCall, where: Where): { branch: string; from: string } {
  const { repo, world } = call;
  const from = where.branch || repo.defaultBranch;
  const branch = where.new_branch || from;
  if (branch !== from && repo.git.branches.has(branch)) throw unprocessable(`branch already exists [name: ${branch}]`);
  if (!isRefName(branch)) throw unprocessable(`branch name is not valid [name: ${branch}]`);
  const protection = protectionOf(world, repo, branch);
  if (protection && !branchRights(world, call.caller.user, call.permission, protection).push)
    throw forbidden(`branch ${branch} is protected from changes`);
  return { branch, from };
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
  const { ref } = commit(call, wish, {
    message: wish.message || `Add ${path}`,
    files: { [path]: bytesOf(wish.content) },
  });
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
  const { ref } = commit(call, wish, {
    message: wish.message || `Update ${path}`,
    files: { [path]: bytesOf(wish.content) },
    removed,
  });
  return ok(answer(call, ref, path));
}

function remove(call: RepoCall): Answer {
  const path = pathOf(call);
  const wish = bind(call, endFields);
  checkSeen(call, wish, path, wish.sha, 400);
  const { ref } = commit(call, wish, { message: wish.message || `Delete ${path}`, removed: [path] });
  return ok(answer(call, ref, null));
}

const patchFields = (call: RepoCall) => ({
  ...shared,
  content: field.text(),
  sha: field.text({ required: call.profile.repositories.patchWantsSha, label: 'SHA' }),
  author: field.object(),
  dates: field.object(),
});

/** Whatever git cannot apply is a fault of the server. */
function patch(call: RepoCall): Answer {
  const { repo, world } = call;
  const wish = bind(call, patchFields(call));
  if (isEmpty(repo.git)) throw notFound('the repository is empty');
  const files = filesOn(call, wish) ?? new Map<string, string>();
  refuseBranch(call, wish);
  const patched = applyPatch(repo.git, files, wish.content ?? '');
  if (!patched) throw serverError('git apply failed');
  const own = signatureOf(world, doer(call));
  const [author, committer] = ['author', 'committer'].map((role) => {
    const at = Date.parse(textIn(wish.dates, role) ?? '');
    return {
      name: textIn(wish.author, 'name') ?? own.name,
      email: textIn(wish.author, 'email') ?? own.email,
      at: Number.isNaN(at) ? own.at : Math.floor(at / 1000),
    };
  });
  const { ref } = commit(call, wish, {
    message: wish.message || 'apply-patch',
    ...patched,
    ...(author && committer ? { author, committer } : {}),
  });
  return created(answer(call, ref, null));
}

function textIn(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** One commit to one file, in the caller's name; or to all that a patch names. */
export const fileWriteHandlers: Handlers = {
  applyPatch: (call) =>
    onRepository({ ...live, roleBeforeLogin: call.profile.repositories.patchWantsSha }, patch)(call),
  createFile: onRepository(live, create),
  updateFile: onRepository(live, change),
  deleteFile: onRepository(live, remove),
};
