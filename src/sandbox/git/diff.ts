import { deflateSync } from 'node:zlib';
import type { GitStore } from '../entities/repository.js';

export interface FileChange {
  path: string;
  /** Where it was before it was moved unchanged. */
  previousPath?: string;
  status: 'added' | 'removed' | 'modified' | 'renamed';
  additions: number;
  deletions: number;
}

export type Tree = ReadonlyMap<string, string>;

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
  const [old, now] = [linesOf(before), linesOf(after)];
  const { start, end } = commonEnds(old, now);
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const common = removed.length * added.length > MAX_COMPARISONS ? 0 : longestCommon(removed, added);
  return { additions: added.length - common, deletions: removed.length - common };
}

function linesOf(blob: Buffer | undefined): string[] {
  const text = blob?.toString('utf8') ?? '';
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** How many lines both begin and end with. */
function commonEnds(a: readonly string[], b: readonly string[]): { start: number; end: number } {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return { start, end };
}

const CONTEXT = 3;

/** A change of a text as one hunk: from the first line that changed to the last one, all count as changed. Empty for a binary file. */
export function hunkOf(before: Buffer | undefined, after: Buffer | undefined): string {
  if (before?.includes(0) || after?.includes(0)) return '';
  const [old, now] = [linesOf(before), linesOf(after)];
  const { start, end } = commonEnds(old, now);
  const from = Math.max(0, start - CONTEXT);
  const until = Math.max(0, end - CONTEXT);
  const range = (count: number): string => `${count === 0 ? from : from + 1}${count === 1 ? '' : `,${count}`}`;
  const marked = (mark: string, lines: readonly string[]): string[] =>
    lines.map((line) => `${mark}${line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`}`);
  const inside = old.slice(0, from).findLast((line) => /^[A-Za-z_$]/.test(line));
  return [
    `@@ -${range(old.length - until - from)} +${range(now.length - until - from)} @@${inside === undefined ? '' : ` ${inside.trimEnd().slice(0, 80)}`}\n`,
    ...marked(' ', now.slice(from, start)),
    ...marked('-', old.slice(start, old.length - end)),
    ...marked('+', now.slice(start, now.length - end)),
    ...marked(' ', now.slice(now.length - end, now.length - until)),
  ].join('');
}

const NO_BLOB = '0'.repeat(40);

/** What `git diff` says of two trees. @param binary with the contents of binary files (`--binary`) */
export function textOfDiff(store: GitStore, before: Tree, after: Tree, binary = false): string {
  return diffTrees(store, before, after)
    .map(({ path, previousPath = path, status }) => {
      const head = `diff --git a/${previousPath} b/${path}\n`;
      if (status === 'renamed') return `${head}similarity index 100%\nrename from ${previousPath}\nrename to ${path}\n`;
      const hunk = hunkOf(blobOf(store, before, path), blobOf(store, after, path));
      const isWhole = binary && hunk === '';
      const [old, now] = [before, after].map((tree) => (tree.get(path) ?? NO_BLOB).slice(0, isWhole ? 40 : 7));
      const mode = { added: 'new file mode 100644\n', removed: 'deleted file mode 100644\n', modified: '' }[status];
      const [from, to] = [
        status === 'added' ? '/dev/null' : `a/${path}`,
        status === 'removed' ? '/dev/null' : `b/${path}`,
      ];
      const lines = isWhole
        ? `GIT binary patch\n${literalOf(blobOf(store, after, path))}${literalOf(blobOf(store, before, path))}`
        : hunk === ''
          ? `Binary files ${from} and ${to} differ\n`
          : `--- ${from}\n+++ ${to}\n${hunk}`;
      return `${head}${mode}index ${old}..${now}${status === 'modified' ? ' 100644' : ''}\n${lines}`;
    })
    .join('');
}

const BASE85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const LITERAL_LINE = 52;

/** A blob as `git diff --binary` writes it: compressed, in lines of 52 bytes, each with its length in front. */
function literalOf(blob: Buffer = Buffer.alloc(0)): string {
  const packed = deflateSync(blob, { level: 1 });
  const lines: string[] = [];
  for (let at = 0; at < packed.length; at += LITERAL_LINE) {
    const bytes = packed.subarray(at, at + LITERAL_LINE);
    const mark = String.fromCharCode(bytes.length <= 26 ? 64 + bytes.length : 70 + bytes.length);
    lines.push(`${mark}${inBase85(bytes)}\n`);
  }
  return `literal ${blob.length}\n${lines.join('')}\n`;
}

function inBase85(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let word = Buffer.concat([bytes.subarray(at, at + 4), Buffer.alloc(4)]).readUInt32BE(0);
    let group = '';
    for (let n = 0; n < 5; n += 1) {
      group = `${BASE85[word % 85] ?? ''}${group}`;
      word = Math.floor(word / 85);
    }
    text += group;
  }
  return text;
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
