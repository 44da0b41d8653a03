import type { Commit, GitStore } from '../entities/repository.js';

/** A commit and all before it, newest first, each once. */
function historyOf(store: GitStore, sha: string): Commit[] {
  const seen = new Map<string, Commit>();
  const waiting = [sha];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const commit = store.commits.get(next);
    if (!commit || seen.has(next)) continue;
    seen.set(next, commit);
    waiting.push(...commit.parents);
  }
  return [...seen.values()];
}

/** Commits reachable from `after` and not from `before` (null = from nothing), newest first. */
export function commitsBetween(store: GitStore, before: string | null, after: string): Commit[] {
  const ancestors = new Set(before === null ? [] : historyOf(store, before).map(({ sha }) => sha));
  return historyOf(store, after).filter(({ sha }) => !ancestors.has(sha));
}

/** The nearest commit that both have in their history. */
export function mergeBaseOf(store: GitStore, a: string, b: string): Commit | undefined {
  const ancestors = new Set(historyOf(store, a).map(({ sha }) => sha));
  return historyOf(store, b).find(({ sha }) => ancestors.has(sha));
}

/** Changed paths between two trees. */
function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  return {
    added: [...after.keys()].filter((path) => !before.has(path)).sort(),
    modified: [...after]
      .filter(([path, id]) => before.has(path) && before.get(path) !== id)
      .map(([path]) => path)
      .sort(),
    removed: [...before.keys()].filter((path) => !after.has(path)).sort(),
  };
}

/** What a commit changed against its first parent. */
export function changesOf(store: GitStore, commit: Commit) {
  const parent = commit.parents[0];
  return changesBetween(
    parent === undefined ? new Map<string, string>() : (store.commits.get(parent)?.files ?? new Map<string, string>()),
    commit.files,
  );
}

/** The newest commit of a history that touched a file, or anything below a folder. */
export function lastCommitOf(store: GitStore, sha: string, path: string): Commit | undefined {
  return historyOf(store, sha).find((commit) => {
    const { added, modified, removed } = changesOf(store, commit);
    return [...added, ...modified, ...removed].some((changed) => changed === path || changed.startsWith(`${path}/`));
  });
}
