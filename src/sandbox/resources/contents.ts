import type { Answer } from '../answer.js';
import { badRequest, notFound, ok, Refusal } from '../answer.js';
import { bind, field } from '../body.js';
import { entriesOf } from '../git/objects.js';
import type { ResolvedRef } from '../git/store.js';
import { resolveRef } from '../git/store.js';
import type { RepoCall } from '../guards.js';
import { onRepository } from '../guards.js';
import { DEFAULT_PAGE_SIZE } from '../paging.js';
import type { Handlers } from '../registry.js';
import { cleanPath, MAX_RESPONSE_BYTES, renderContents } from '../render/contents.js';

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
  return entries.map(({ name }) => renderContents(view, repo, ref, path === '' ? name : `${path}/${name}`, false) ?? {});
}

function readNames(call: RepoCall): string[] {
  return bind(call, { files: field.texts({ required: true }) }).files ?? [];
}

/** The GET form has its JSON in the query; whatever is wrong with it is 400. */
function readQueryNames(call: RepoCall): string[] {
  try {
    return readNames({ ...call, method: 'POST', bodyText: call.query.get('body') ?? '', contentType: 'application/json' });
  } catch (error) {
    throw error instanceof Refusal ? badRequest(error.message) : error;
  }
}

export const contentHandlers: Handlers = {
  /** Op 5. Not changing anything, it asks for read only (a token must still have the write scope, by the method). */
  getFiles: onRepository({ units: ['repo.code'] }, (call) => severalFiles(call, readNames(call))),

  getFilesByQuery: onRepository({ units: ['repo.code'] }, (call) => severalFiles(call, readQueryNames(call))),

  /** The entries of the root. */
  listContents: onRepository({ units: ['repo.code'] }, (call) => ok(folder(call, refOf(call), ''))),

  /** A file with its content, or the entries of a folder without. */
  getContents: onRepository({ units: ['repo.code'] }, (call) => {
    const { view, repo } = call;
    const ref = refOf(call);
    const path = cleanPath(call.params.filepath ?? '');
    if (path === undefined) throw notFound();
    if (ref.commit.files.has(path)) return ok(renderContents(view, repo, ref, path, true) ?? {});
    return ok(folder(call, ref, path));
  }),
};
