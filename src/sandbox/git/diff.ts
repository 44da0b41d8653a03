import type { GitStore } from '../resources/commit.js';

export interface FileChange {
  path: string;
  /** Where it was before it was moved unchanged. */
  previousPath?: string;
  status: 'added' | 'removed' | 'modified' | 'renamed';
  additions: number;
  deletions: number;
}

type Tree = ReadonlyMap<string, string>;

/** Changed files between two trees by path, with counts of lines. Binary files count no lines. */
export function diffTrees(store: GitStore, before: Tree, after: Tree): FileChange[] {
  const changes: FileChange[] = [];
  const added = new Set([...after.keys()].filter((path) => !before.has(path)));
  for (const [path, id] of before) {
    const moved = after.has(path) ? undefined : [...added].find((other) => after.get(other) === id);
    if (moved !== undefined) {
      added.delete(moved);
      changes.push({ path: moved, previousPath: path, status: 'renamed', additions: 0, deletions: 0 });
    } else if (after.get(path) !== id) {
      changes.push({
        path,
        status: after.has(path) ? 'modified' : 'removed',
        ...countLines(store.blobs.get(id), blobOf(store, after, path)),
      });
    }
  }
  for (const path of added)
    changes.push({ path, status: 'added', ...countLines(undefined, blobOf(store, after, path)) });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function blobOf(store: GitStore, tree: Tree, path: string): Buffer | undefined {
  const id = tree.get(path);
  return id === undefined ? undefined : store.blobs.get(id);
}

/** Above this many comparisons every line counts as changed. */
const MAX_COMPARISONS = 4_000_000;

function countLines(before: Buffer | undefined, after: Buffer | undefined): { additions: number; deletions: number } {
  if (before?.includes(0) || after?.includes(0)) return { additions: 0, deletions: 0 };
  const [old, now] = trimmed(linesOf(before), linesOf(after));
  const kept = old.length * now.length > MAX_COMPARISONS ? 0 : longestCommon(old, now);
  return { additions: now.length - kept, deletions: old.length - kept };
}

function linesOf(blob: Buffer | undefined): string[] {
  const text = blob?.toString('utf8') ?? '';
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Without the lines that both begin and end with. */
function trimmed(a: string[], b: string[]): [string[], string[]] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

/** Length of the longest common subsequence, one row of the table at a time. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Uint32Array(b.length + 1);
  for (const line of a) {
    const next = new Uint32Array(b.length + 1);
    for (let j = 1; j <= b.length; j += 1)
      next[j] = line === b[j - 1] ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0);
    row = next;
  }
  return row[b.length] ?? 0;
}
