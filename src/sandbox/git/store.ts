import { blobId, commitId, treeId } from './objects.js';
import type { Commit, GitStore, Signature } from '../entities/repository.js';
import type { User, World } from '../world.js';

/** How a person signs commits made by the server in their name. */
export function signatureOf(world: World, user: User): Signature {
  return { name: user.fullName || user.login, email: user.email, at: world.now() };
}

export function emptyStore(): GitStore {
  return { blobs: new Map(), commits: new Map(), branches: new Map(), tags: new Map() };
}

export function isEmpty(store: GitStore): boolean {
  return store.branches.size === 0;
}

interface Change {
  /** Path -> new content. */
  files?: Record<string, string | Buffer>;
  removed?: readonly string[];
  message: string;
  author: Signature;
  committer?: Signature;
}

/** Stores a commit on top of its parents (the first gives the tree that is changed); moves no ref. */
export function addCommit(store: GitStore, parents: readonly string[], change: Change): Commit {
  const files = new Map(parents[0] === undefined ? [] : store.commits.get(parents[0])?.files);
  for (const [path, content] of Object.entries(change.files ?? {})) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const id = blobId(bytes);
    store.blobs.set(id, bytes);
    files.set(path, id);
  }
  for (const path of change.removed ?? []) files.delete(path);
  return storeCommit(store, {
    tree: treeId(files),
    parents: [...parents],
    author: change.author,
    committer: change.committer ?? change.author,
    message: change.message.endsWith('\n') ? change.message : `${change.message}\n`,
    files,
  });
}

export function storeCommit(store: GitStore, commit: Omit<Commit, 'sha'>): Commit {
  const stored = { ...commit, sha: commitId(commit) };
  store.commits.set(stored.sha, stored);
  return stored;
}

export interface ResolvedRef {
  kind: 'branch' | 'tag' | 'commit';
  /** Short name, or the commit. */
  name: string;
  commit: Commit;
}

/** A branch, then a tag, then a commit by its id (7 digits at least); full refs too. */
export function resolveRef(store: GitStore, ref: string): ResolvedRef | undefined {
  const short = ref.replace(/^refs\/(heads|tags)\//, '');
  const branch = ref.startsWith('refs/tags/') ? undefined : store.branches.get(short);
  if (branch !== undefined) return refTo(store, 'branch', short, branch);
  const tag = ref.startsWith('refs/heads/') ? undefined : store.tags.get(short);
  if (tag) return refTo(store, 'tag', short, tag.sha);
  if (!/^[0-9a-f]{7,40}$/.test(ref)) return undefined;
  const commit =
    ref.length === 40 ? store.commits.get(ref) : [...store.commits.values()].find(({ sha }) => sha.startsWith(ref));
  return commit && { kind: 'commit', name: commit.sha, commit };
}

function refTo(store: GitStore, kind: 'branch' | 'tag', name: string, sha: string): ResolvedRef | undefined {
  const commit = store.commits.get(sha);
  return commit && { kind, name, commit };
}
