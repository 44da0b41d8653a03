import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, flushFile, flushFolder } from './flush.js';

/** What a file system answers that has no links, as on memory cards and in some shared folders. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Where a file is written before it gets its name: a process that dies meanwhile, or loses power, leaves no file that is cut short. */
export function unfinishedNameOf(path: string): string {
  return `${path}.new-${randomBytes(8).toString('hex')}`;
}

/**
 * Give a flushed file its name, on the disk too. A link replaces nothing: of two processes at once, one gives the name.
 * @returns false when the name is taken; the file keeps its unfinished name
 * @throws FlushFailed
 */
export function nameNewFile(unfinished: string, path: string): boolean {
  try {
    linkSync(unfinished, path);
    rmSync(unfinished);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
    if (existsSync(path)) return false;
    renameSync(unfinished, path);
  }
  flushFolder(dirname(path));
  return true;
}

/**
 * Write a whole file for its owner alone, and flush it.
 * @param replace put it in the place of one that is there; otherwise that one stays
 * @returns whether the file holds these bytes now
 * @throws FlushFailed
 */
export function writeWholeFile(path: string, bytes: string | Uint8Array, { replace }: { replace: boolean }): boolean {
  const unfinished = replace ? `${path}.new` : unfinishedNameOf(path);
  try {
    writeFileSync(unfinished, bytes, { mode: 0o600, flag: replace ? 'w' : 'wx' });
    flushFile(unfinished);
    if (!replace) return nameNewFile(unfinished, path);
    renameSync(unfinished, path);
    flushFolder(dirname(path));
    return true;
  } finally {
    rmSync(unfinished, { force: true });
  }
}
