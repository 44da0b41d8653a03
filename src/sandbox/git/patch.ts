import type { GitStore } from '../entities/repository.js';
import type { Tree } from './diff.js';
import { blobId } from './objects.js';

interface FilePatch {
  /** Null = it is a new file. */
  readonly from: string | null;
  /** Null = the file goes. */
  readonly to: string | null;
  /** The blobs of the `index` line, as they are written; empty = a patch without one. */
  readonly blobs: readonly string[];
  readonly isBinary: boolean;
  readonly hunks: readonly Hunk[];
}

interface Hunk {
  /** Lines before it in the old file. */
  readonly at: number;
  readonly old: readonly string[];
  readonly now: readonly string[];
}

/** What a patch makes of a tree: new contents by path, and paths that go. */
export interface Patched {
  readonly files: Record<string, Buffer>;
  readonly removed: readonly string[];
}

/**
 * Applies a patch as `git apply --3way` does: a file that is as the patch wants it stays, in another the hunks may stand elsewhere.
 * (git also merges where a hunk's own lines changed at one end; here they must be there as they were. A binary file is taken from the store.)
 * @returns undefined for what git refuses: no patch, a broken one, one that does not fit, a path out of the tree
 */
export function applyPatch(store: GitStore, tree: Tree, text: string): Patched | undefined {
  const patches = parsePatch(text);
  if (!patches) return undefined;
  const files: Record<string, Buffer> = {};
  const removed: string[] = [];
  for (const patch of patches) {
    const { from, to } = patch;
    if ([from, to].some((path) => path !== null && !isInside(path))) return undefined;
    const old = from === null ? undefined : (files[from] ?? contentOf(store, tree.get(from)));
    const there = to === null || to === from ? old : (files[to] ?? contentOf(store, tree.get(to)));
    const now = patchedContent(store, patch, old, there);
    if (now === 'conflict') return undefined;
    if (from !== null && from !== to && old) removed.push(from);
    if (to !== null && now) files[to] = now;
  }
  return { files, removed };
}

function contentOf(store: GitStore, id: string | undefined): Buffer | undefined {
  return id === undefined ? undefined : store.blobs.get(id);
}

/** @param there what lies already where it belongs; the same as `old` where the file does not move */
function patchedContent(
  store: GitStore,
  { from, to, blobs: [, after = ''], isBinary, hunks }: FilePatch,
  old: Buffer | undefined,
  there: Buffer | undefined,
): Buffer | undefined | 'conflict' {
  if (to === null) return undefined;
  const isThere = there !== undefined && after !== '' && blobId(there).startsWith(after);
  if (isThere) return there;
  if (from !== to && there) return 'conflict';
  if (from !== null && !old) return 'conflict';
  if (isBinary) return [...store.blobs].find(([id]) => after !== '' && id.startsWith(after))?.[1] ?? 'conflict';
  return applyHunks(old?.toString('utf8') ?? '', hunks);
}

function applyHunks(text: string, hunks: readonly Hunk[]): Buffer | 'conflict' {
  const lines = linesOf(text);
  let moved = 0;
  for (const { at, old, now } of hunks) {
    const start = placeOf(lines, old, at + moved);
    if (start === undefined && placeOf(lines, now, at + moved) !== undefined) continue;
    if (start === undefined) return 'conflict';
    lines.splice(start, old.length, ...now);
    moved = start - at + now.length - old.length;
  }
  return Buffer.from(lines.join(''));
}

/** Where the lines stand, nearest to where they are expected. */
function placeOf(lines: readonly string[], wanted: readonly string[], expected: number): number | undefined {
  const places = Array.from({ length: lines.length - wanted.length + 1 }, (_, at) => at).filter((at) =>
    wanted.every((line, i) => lines[at + i] === line),
  );
  return places.sort((a, b) => Math.abs(a - expected) - Math.abs(b - expected))[0];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function isInside(path: string): boolean {
  return path !== '' && !path.split('/').some((part) => part === '..' || part === '' || /^\.git$/i.test(part));
}

/** Undefined = it holds no patch, or one that breaks off. */
function parsePatch(text: string): FilePatch[] | undefined {
  const parts = text.split(/^diff --git /m).slice(1);
  const patches = parts.map(parseFile);
  return parts.length > 0 && patches.every((patch) => patch !== undefined) ? patches : undefined;
}

function parseFile(part: string): FilePatch | undefined {
  const [head = '', ...lines] = part.split('\n');
  const [, a = '', b = ''] = /^a\/(.*) b\/(.*)$/.exec(head) ?? [];
  const blobs = /^index ([0-9a-f]+)\.\.([0-9a-f]+)/m.exec(part)?.slice(1) ?? [];
  const isNew = /^new file mode/m.test(part);
  const isGone = /^deleted file mode/m.test(part);
  const first = lines.findIndex((line) => line.startsWith('@@ '));
  const hunks = first < 0 ? [] : parseHunks(lines.slice(first));
  if (!hunks || a === '') return undefined;
  const isBinary = /^GIT binary patch$/m.test(part);
  // What git says of a binary file in words alone cannot be applied.
  if (/^Binary files /m.test(part)) return undefined;
  return { from: isNew ? null : a, to: isGone ? null : b, blobs, isBinary, hunks };
}

function parseHunks(lines: readonly string[]): Hunk[] | undefined {
  const hunks: Array<{ at: number; counts: readonly [number, number]; old: string[]; now: string[] }> = [];
  let last: string[][] = [];
  for (const line of lines) {
    const range = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    const hunk = hunks.at(-1);
    if (range) {
      const counts = [Number(range[2] ?? 1), Number(range[3] ?? 1)] as const;
      hunks.push({ at: Math.max(0, Number(range[1]) - (counts[0] === 0 ? 0 : 1)), counts, old: [], now: [] });
    } else if (hunk && line.startsWith('\\')) {
      // It says so of the line before it alone.
      for (const side of last) side.push((side.pop() ?? '').replace(/\n$/, ''));
    } else if (hunk) {
      const { old, now } = hunk;
      last = line.startsWith(' ') ? [old, now] : line.startsWith('-') ? [old] : line.startsWith('+') ? [now] : [];
      for (const side of last) side.push(`${line.slice(1)}\n`);
    }
  }
  const isWhole = hunks.every(({ counts, old, now }) => old.length === counts[0] && now.length === counts[1]);
  return isWhole ? hunks : undefined;
}
