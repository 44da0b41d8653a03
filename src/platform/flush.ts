import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../core/errors.js';

/**
 * The disk did not confirm a write. The system may have dropped the bytes already, and a second flush would then report success: nobody retries
 * one. The process ends, and the next one recovers from what is on the disk.
 */
export class FlushFailed extends UserError {
  constructor(path: string, reason: string) {
    super(
      'FLUSH_FAILED',
      `the disk did not confirm a write to ${path} (${reason}): nothing is acknowledged any more, and this process ends. Check the disk and its free space, then start the bot again`,
      { path, reason },
    );
  }
}

/** What a system answers that cannot flush a folder. */
const NOT_OFFERED_OF_FOLDERS = new Set(['EINVAL', 'EBADF', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP']);

/** Whether this error of a folder says that the system offers no flush of folders. */
export function offersNoFolderFlush(error: unknown): boolean {
  return NOT_OFFERED_OF_FOLDERS.has(codeOf(error));
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

/** @throws FlushFailed */
export function flushFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } catch (error) {
    throw new FlushFailed(path, codeOf(error));
  } finally {
    closeSync(file);
  }
}

/** The names in a folder: files and folders that were made, renamed or removed in it. @throws FlushFailed */
export function flushFolder(path: string): void {
  // Windows writes names with the file.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    if (!offersNoFolderFlush(error)) throw new FlushFailed(path, codeOf(error));
  } finally {
    closeSync(folder);
  }
}

/** Every file and folder below a folder, and the folder itself. @throws FlushFailed */
export function flushTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) flushTree(join(path, entry.name));
    else if (entry.isFile()) flushFile(join(path, entry.name));
  }
  flushFolder(path);
}

/** The name of a folder and the names of those above it, whoever made them. @throws FlushFailed */
export function flushWayTo(path: string): void {
  for (let [folder, above] = [path, dirname(path)]; above !== folder; [folder, above] = [above, dirname(above)]) {
    try {
      flushFolder(above);
    } catch (error) {
      // A folder that this user may not read holds names that others made, long before.
      if (error instanceof FlushFailed || !['EACCES', 'EPERM'].includes(codeOf(error))) throw error;
    }
  }
}

/** Make a folder and those above it, for the owner alone; the entries of new ones are on the disk when it returns. @throws FlushFailed */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const top = dirname(first);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    flushFolder(folder);
    if (folder === top || folder === dirname(folder)) return;
  }
}
